import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLog } from "../../../src/log.js";
import { listModels } from "../../../src/providers/catalogue/list-models.js";
import { createModels } from "../../../src/providers/catalogue/models.js";
import { type ProviderSettings, toUsable } from "../../../src/providers/catalogue/presets.js";
import { startFakeListing } from "../../support/fakes/models/fake-listing.js";

function modelsOf(
  providers: Readonly<Record<string, ProviderSettings>>,
  defaults: { readonly model?: string; readonly fallbacks?: readonly string[] } = {},
) {
  return createModels({
    providers,
    defaults: { ...defaults, maxTokens: 8192, contextWindow: 128_000 },
    prices: {},
    log: silentLog,
  });
}

describe("what status says about the models", () => {
  test("without any provider the stand-in is used, and nothing is wrong with that", () => {
    const models = modelsOf({});
    assert.deepEqual([models.describe(), models.problems()], [{ provider: "offline", model: "offline" }, []]);
  });

  test("a model that was chosen, while no provider is there to run it, is told", () => {
    const models = modelsOf({}, { model: "anthropic/claude-x" });
    assert.equal(models.describe().provider, "offline");
    assert.match(models.problems().join(), /anthropic\/claude-x needs .*Set providers\.anthropic\.apiKey/);
  });

  test("a key for a provider whose address nobody knows is told, beside one that works as well", () => {
    const lost = { apiKey: "k", models: [] };
    const works = { apiKey: "k", models: [{ id: "m" }] };
    assert.match(modelsOf({ acme: lost }).problems().join(), /does not know the address of the provider acme/);
    const both = modelsOf({ openai: works, acme: lost });
    assert.deepEqual(both.describe(), { provider: "openai", model: "openai/m" });
    assert.deepEqual(both.problems(), [
      "maxclaw does not know the address of the provider acme. Set providers.acme.apiBase.",
    ]);
    assert.deepEqual(modelsOf({ openai: works }).problems(), []);
  });
});

describe("the list of a provider's models", () => {
  test("is no proof of a key where everybody gets it: the key is asked about by itself", async () => {
    await using provider = await startFakeListing({ key: "right", models: ["a/b"], listsOpenly: true });
    const ask = (apiKey: string) => {
      const usable = toUsable("openrouter", { apiKey, apiBase: provider.apiBase, models: [] });
      assert.ok(usable);
      return listModels(usable, new AbortController().signal);
    };
    assert.deepEqual(await ask("right"), [{ id: "a/b", name: "a/b" }]);
    await assert.rejects(ask("wrong"), /answered 401/);
  });
});
