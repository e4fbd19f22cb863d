import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { conversationIn, headOf } from "../../../support/rules/wire-messages.js";
import { startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

/** Two calls side by side, one more, then the answer; without tools for what is not asked to look. */
function play({ body, userText }: RecordedRequest): ScriptedAnswer {
  const said = JSON.stringify(body.messages);
  const results = said.split(/"role":"tool"|"type":"tool_result"/).length - 1;
  const looks = said.split("please look").length - 1;
  if (!userText.includes("please look") || results >= looks * 3) return { text: ["it ", "is so 界"] };
  const call = (n: number) => ({
    id: `call_${results}_${n}`,
    name: "list_dir",
    input: { path: ".", depth: ((results + n) % 5) + 1 },
  });
  return results % 3 === 0 ? { text: "Let me see.", toolCalls: [call(0), call(1)] } : { toolCalls: [call(0)] };
}

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const)
  test(`${apiFormat}: each request repeats the bytes of the one before, over turns, tool calls and restarts`, async () => {
    await using server = await startFake({ answer: play });
    const config = {
      agents: { defaults: { model: "acme/m" } },
      providers: { acme: { apiKey: "key-of-acme", apiBase: server.apiBase, apiFormat } },
    };
    const talk = async (gateway: TestGateway, texts: readonly string[]): Promise<void> => {
      for (const text of texts) {
        const { response } = await gateway.ask(text);
        if (!text.startsWith("/")) assert.equal(response, "it is so 界", text);
      }
    };
    const first = await startGateway({ config });
    await mkdir(join(first.workspace, "skills"), { recursive: true });
    await writeFile(
      join(first.workspace, "skills", "tea.md"),
      "---\nname: tea\ndescription: makes tea\n---\nBoil water.",
    );
    await talk(first, ["hello", "please look", "and then? 好", "/status", "please look again", "@skill:tea now"]);
    await using second = await first.restart();
    await talk(second, ["after the restart", "please look once more", "thanks"]);

    const { requests } = server;
    assert.equal(requests.length, 5 + 3 * 3);
    for (const [index, request] of requests.entries()) {
      const before = requests[index - 1];
      if (before === undefined) continue;
      assert.ok(conversationIn(request).startsWith(conversationIn(before)), `request ${index} repeats the one before`);
      assert.ok(conversationIn(request).length > conversationIn(before).length);
      assert.equal(headOf(request), headOf(before), `request ${index}: tools and system prompt`);
    }
    const tools: readonly { readonly name?: string; readonly function?: { readonly name: string } }[] = JSON.parse(
      requests[0]?.bodyText ?? "{}",
    ).tools;
    const names = tools.map((tool) => tool.name ?? tool.function?.name ?? "");
    assert.deepEqual(names, [...names].sort());
  });

test("anthropic: at most four marks, at the last tool, the system prompt and the last two of the user's side", async () => {
  await using server = await startFakeAnthropic({ answer: play });
  await using gateway = await startGateway({
    config: {
      agents: { defaults: { model: "acme/m" } },
      providers: { acme: { apiKey: "key-of-acme", apiBase: server.apiBase, apiFormat: "anthropic" } },
    },
  });
  for (const text of ["hello", "please look", "thanks"]) await gateway.ask(text);
  for (const { body, bodyText, index } of server.requests) {
    const places: string[] = [];
    const find = (value: unknown, path: readonly string[]): void => {
      if (typeof value !== "object" || value === null) return;
      if ("cache_control" in value) places.push(path.join("."));
      for (const [key, inner] of Object.entries(value)) find(inner, [...path, key]);
    };
    find(body, []);
    const { tools = [], messages = [] } = body as {
      readonly tools?: readonly unknown[];
      readonly messages?: readonly { readonly role: string; readonly content: readonly unknown[] }[];
    };
    const userSides = messages.flatMap(({ role, content }, at) =>
      role === "user" ? [`messages.${at}.content.${content.length - 1}`] : [],
    );
    assert.deepEqual(
      places.sort(),
      [`tools.${tools.length - 1}`, "system.0", ...userSides.slice(-2)].sort(),
      `${index}`,
    );
    assert.ok((bodyText.match(/cache_control/g)?.length ?? 0) <= 4);
  }
});
