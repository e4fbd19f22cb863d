import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClient } from "../../../../src/client/node.js";
import type { SessionDocument } from "../../../../src/sessions/session.js";
import { gate, until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { runMaxclaw, startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, tempHome } from "../../../support/worlds/gateway.js";

const textsOf = (document: Pick<SessionDocument, "messages">): readonly string[] =>
  document.messages.map(({ content }) => content);

test("a message that waited for the answer before it is below that answer: in the document, the terminal, exports and for the model", async () => {
  const held = gate();
  await using script = await startFakeOpenAI({
    answer: async ({ userText }) => {
      if (userText.includes("one")) await held.opened;
      return { text: `answer to ${userText.endsWith("one") ? "one" : "two"}` };
    },
  });
  const home = await tempHome();
  writeFileSync(join(home, "config.json"), JSON.stringify(openAIConfig(script.apiBase)));
  await using daemon = await startDaemon({ home });
  const client = createClient({ url: daemon.url });
  const sessionKey = "webui:order";
  await client.openSession({ sessionKey, title: "My: trip/plan" });
  let ended = 0;
  client.subscribe(sessionKey, ({ type }) => {
    if (type === "turn_execution_complete") ended += 1;
  });
  await client.sendMessage({ sessionKey, content: "one" });
  await until("the model works on it", () => script.requests.length === 1);
  await client.sendMessage({ sessionKey, content: "two", mode: "next" });
  held.open();
  await until("both are answered", () => ended === 2);
  client.close();
  const order = ["one", "answer to one", "two", "answer to two"];
  const get = async (path: string): Promise<Response> => await fetch(`${daemon.url}/api/sessions/${sessionKey}${path}`);
  assert.deepEqual(textsOf((await (await get("")).json()) as SessionDocument), order);
  const last = script.requests.at(-1)?.body as { messages: { role: string; content: unknown }[] };
  const asked = last.messages.filter(({ role }) => role !== "system").map(({ content }) => JSON.stringify(content));
  assert.deepEqual(
    asked.map((text) => order.findLast((each) => text.includes(each))),
    order.slice(0, 3),
  );
  const json = await get("/export?format=json");
  assert.match(json.headers.get("content-disposition") ?? "", /^attachment; filename=".*plan\.json"/);
  assert.deepEqual(textsOf((await json.json()) as SessionDocument), order);
  const markdown = await (await get("/export")).text();
  assert.match(markdown, /^# My: trip\/plan\n\nConversation `webui:order`\n/);
  assert.deepEqual(
    [...markdown.matchAll(/\n---\n\n\*\*(\w+)\*\* · [\d-]+ [\d:]+ UTC\n\n(.*)\n/g)].map(
      ([, who, text]) => `${who}: ${text}`,
    ),
    ["User: one", "Assistant: answer to one", "User: two", "Assistant: answer to two"],
  );
  assert.equal((await get("/export?format=pdf")).status, 400);
  assert.equal((await fetch(`${daemon.url}/api/sessions/webui:none/export`)).status, 404);
  const head = await fetch(`${daemon.url}/api/sessions/${sessionKey}/export`, { method: "HEAD" });
  assert.equal(head.headers.get("content-type"), "text/markdown; charset=utf-8");
  const shown = await runMaxclaw(["sessions", "show", sessionKey], home);
  assert.match(shown.stdout, /one\n[\s\S]*answer to one\n[\s\S]*two\n[\s\S]*answer to two/);
  await daemon.end("SIGTERM");
  const file = join(home, "out.md");
  const exported = await runMaxclaw(["sessions", "export", sessionKey, file], home);
  assert.equal(exported.code, 0, exported.stderr);
  assert.equal(readFileSync(file, "utf8"), markdown);
  const twice = await runMaxclaw(["sessions", "export", sessionKey, file], home);
  assert.equal(twice.code, 1);
  assert.match(twice.stderr, /out\.md exists already/);
  const printed = await runMaxclaw(["sessions", "export", sessionKey, "--format", "json"], home);
  assert.deepEqual(textsOf(JSON.parse(printed.stdout) as SessionDocument), order);
});
