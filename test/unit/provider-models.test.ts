import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLog } from "../../src/log.js";
import { createModels, type ModelDescription } from "../../src/providers/models.js";
import type { ProviderSettings } from "../../src/providers/presets.js";

function described(providers: Readonly<Record<string, ProviderSettings>>, model?: string): ModelDescription {
  return createModels({
    providers,
    defaults: { model, maxTokens: 8192, contextWindow: 128_000 },
    prices: {},
    log: silentLog,
  }).describe();
}

describe("what status says of the models", () => {
  test("without any provider the stand-in is used, and nothing is wrong with that", () => {
    assert.deepEqual(described({}), { provider: "offline", model: "offline" });
  });

  test("a model that was chosen, while no provider is there to run it, is told", () => {
    const { provider, problem } = described({}, "anthropic/claude-x");
    assert.equal(provider, "offline");
    assert.match(problem ?? "", /anthropic\/claude-x needs .*Set providers\.anthropic\.apiKey/);
  });

  test("a key for a provider whose address nobody knows is told, beside one that works as well", () => {
    const lost = { apiKey: "k", models: [] };
    const works = { apiKey: "k", models: [{ id: "m" }] };
    assert.match(described({ acme: lost }).problem ?? "", /no address of the provider acme/);
    assert.deepEqual(described({ openai: works, acme: lost }), {
      provider: "openai",
      model: "openai/m",
      problem: "maxclaw knows no address of the provider acme. Set providers.acme.apiBase.",
    });
    assert.equal(described({ openai: works }).problem, undefined);
  });
});
