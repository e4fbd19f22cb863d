import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../support/engine/engine-kit.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { startGateway } from "../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../support/worlds/model-script.js";
import { badServer, referenceServer } from "../../support/worlds/tools/mcp.js";

/** Every object in a request that looks like an image part of either wire. */
function imagesIn({ body }: RecordedRequest): readonly { readonly type: string; readonly data: string }[] {
  const found: { readonly type: string; readonly data: string }[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if ("image_url" in value) {
      const { url } = value.image_url as { readonly url: string };
      const [, type = "", data = ""] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
      found.push({ type, data });
    } else if ("type" in value && value.type === "image" && "source" in value) {
      const { media_type, data } = value.source as { readonly media_type: string; readonly data: string };
      found.push({ type: media_type, data });
    } else for (const inner of Object.values(value)) look(inner);
  };
  look(body.messages);
  return found;
}

for (const [apiFormat, startFake] of [
  ["openai", startFakeOpenAI],
  ["anthropic", startFakeAnthropic],
] as const)
  test(`${apiFormat}: an image of a server reaches a model that can see, in this turn and the next, and one that is none never does`, async () => {
    const calls: readonly ScriptedAnswer[] = [
      { toolCalls: [{ id: "c1", name: "mcp_everything_get_tiny_image", input: {} }] },
      { text: "a small picture" },
      { toolCalls: [{ id: "c2", name: "mcp_bad_say", input: { text: "false image" } }] },
      { text: "nothing to see" },
    ];
    await using model = await startFake({ answer: ({ index }) => calls[index] ?? { text: "more" } });
    const models = [{ id: "m", supportsImageInput: true }];
    await using gateway = await startGateway({
      config: {
        agents: { defaults: { model: "acme/m", executionMode: "auto" } },
        providers: { acme: { apiKey: "key-of-acme", apiBase: model.apiBase, apiFormat, models } },
        memory: { titles: "first" },
        // Else the second call would ask, because the first one's result came from outside.
        policy: { rules: [{ tool: "mcp_*", verdict: "allow" }] },
        tools: { mcpServers: { everything: referenceServer("everything"), bad: badServer() } },
      },
    });
    const servers = () => gateway.gateway.api.mcp?.list() ?? [];
    await until("all are connected", () => servers().every(({ state }) => state === "connected"), 20_000);
    assert.equal((await gateway.ask("show me")).response, "a small picture");
    assert.equal((await gateway.ask("and another")).response, "nothing to see");
    assert.equal((await gateway.ask("thanks")).response, "more");
    const [first, second, third, fourth, fifth] = model.requests.map(imagesIn);
    assert.deepEqual([first?.length, second?.length], [0, 1]);
    assert.equal(second?.[0]?.type, "image/png");
    const bytes = Buffer.from(second?.[0]?.data ?? "", "base64");
    assert.equal(bytes.subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
    assert.ok(bytes.length > 1000);
    for (const later of [third, fourth, fifth]) assert.deepEqual(later, second);
  });
