import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { ConfigError } from "../../../src/errors.js";
import { createModelChooser } from "../../../src/providers/catalogue/choose.js";
import { findLocalOllama } from "../../../src/providers/catalogue/ollama.js";
import {
  hasUsableProvider,
  type ProviderSettings,
  presets,
  toUsable,
} from "../../../src/providers/catalogue/presets.js";
import { collect, noAbort } from "../../contracts/provider/calls.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";

const key = (name: string, models: ProviderSettings["models"] = []): ProviderSettings => ({
  apiKey: `key-${name}`,
  models,
});

function chooser(providers: Readonly<Record<string, ProviderSettings>>, model?: string) {
  const price = { input: 1, output: 2 };
  return createModelChooser({
    providers,
    defaults: { model, maxTokens: 8192, contextWindow: 128_000, temperature: 0.7 },
    prices: { "anthropic/claude-x": price, "gpt-4o": price },
  });
}

function chosen(providers: Readonly<Record<string, ProviderSettings>>, label?: string) {
  const { provider, model } = chooser(providers).choose(label);
  return `${provider.name}: ${model}`;
}

const refusal = (providers: Readonly<Record<string, ProviderSettings>>, label?: string): string => {
  try {
    return chosen(providers, label);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
};

describe("choosing a model", () => {
  test("a prefix goes to its provider when that has a key", () => {
    const providers = { anthropic: key("anthropic"), openrouter: key("openrouter") };
    assert.equal(chosen(providers, "anthropic/claude-x"), "anthropic: claude-x");
    assert.equal(chosen(providers, "openai/gpt-4o"), "openrouter: openai/gpt-4o");
  });

  test("an entry of some models goes before OpenRouter, by id or by name, unless it is switched off", () => {
    const models = [
      { id: "glm-4.6", name: "GLM", maxTokens: 4096, supportsImageInput: true },
      { id: "off", enabled: false },
    ];
    const providers = { openrouter: key("openrouter"), zhipu: key("zhipu", models) };
    assert.equal(chosen(providers, "glm-4.6"), "zhipu: glm-4.6");
    const glm = chooser(providers).choose("GLM");
    assert.deepEqual([glm.model, glm.maxTokens, glm.supportsImages, glm.label], ["glm-4.6", 4096, true, "GLM"]);
    assert.equal(chosen(providers, "off"), "openrouter: off");
    assert.match(refusal(providers, "zhipu/off"), /switched off.*providers\.zhipu\.models/);
  });

  test("an entry that repeats its provider's name is called without it, except for OpenRouter's own models", () => {
    assert.equal(
      chosen({ anthropic: key("a", [{ id: "anthropic/claude-x" }]) }, "anthropic/claude-x"),
      "anthropic: claude-x",
    );
    assert.equal(chosen({ openrouter: key("o") }, "openrouter/auto"), "openrouter: openrouter/auto");
    assert.equal(chosen({ openrouter: key("o") }, "openrouter/z-ai/glm"), "openrouter: z-ai/glm");
  });

  test("without a label the default counts, else the first provider's first model that is switched on", () => {
    const models = [{ id: "a", enabled: false }, { id: "b" }];
    const providers = { groq: { models: [{ id: "keyless" }] }, openai: key("openai", models) };
    assert.equal(chosen(providers), "openai: b");
    assert.equal(chooser(providers).choose().label, "openai/b");
    assert.equal(chooser(providers, "openai/c").choose().model, "c");
  });

  test("defaults and prices go along", () => {
    const choice = chooser({ anthropic: key("a"), openai: key("o") }).choose("anthropic/claude-x");
    assert.deepEqual(
      [choice.maxTokens, choice.temperature, choice.price, choice.supportsImages],
      [8192, 0.7, { input: 1, output: 2 }, true],
    );
    assert.deepEqual(chooser({ openai: key("o") }).choose("openai/gpt-4o").price, { input: 1, output: 2 });
    assert.equal(chooser({ openai: key("o") }).choose("openai/constructor").price, undefined);
  });

  test("each refusal says what to do", () => {
    assert.match(refusal({}, "openai/gpt-4o"), /Set providers\.openai\.apiKey/);
    assert.match(refusal({}), /No model provider is configured.*maxclaw onboard/);
    assert.match(refusal({ openai: key("o") }), /Set agents\.defaults\.model, e\.g\. to "openai\/<model>"/);
    const two = { openai: key("o"), anthropic: key("a") };
    assert.match(refusal(two, "mine"), /Write it with its provider, e\.g\. openai\/mine/);
    assert.match(refusal({ acme: key("a") }, "acme/x"), /Set providers\.acme\.apiBase/);
    assert.match(refusal({ ollama: { models: [] } }, "ollama/x"), /Set providers\.ollama\.apiBase/);
  });

  test("a provider is made once", () => {
    const choose = chooser({ openai: key("o") });
    assert.equal(choose.choose("openai/a").provider, choose.choose("openai/b").provider);
  });

  test("without a key an address of one's own is enough, but not a service's that wants a key", () => {
    const models: ProviderSettings["models"] = [];
    assert.equal(toUsable("ollama", { apiBase: "http://127.0.0.1:11434", models })?.apiKey, undefined);
    assert.ok(hasUsableProvider({ mine: { apiBase: "http://127.0.0.1:1/v1", models } }));
    assert.ok(hasUsableProvider({ openai: { apiBase: "http://127.0.0.1:1/v1", apiKey: " ", models } }));
    assert.ok(!hasUsableProvider({ openai: { apiKey: " ", models }, ollama: { models }, constructor: key("c") }));
    for (const [name, { apiBase, isLocal }] of Object.entries(presets)) {
      assert.equal(hasUsableProvider({ [name]: { apiBase, models } }), isLocal === true, name);
    }
  });

  test("each key goes to its own provider, in its own format", async () => {
    await using one = await startFakeOpenAI({ answer: { text: "one" } });
    await using two = await startFakeAnthropic({ answer: { text: "two" } });
    const choose = chooser({
      one: { ...key("one"), apiBase: one.apiBase },
      two: { ...key("two"), apiBase: two.apiBase, apiFormat: "anthropic", headers: { "x-team": "blue" } },
    });
    for (const label of ["one/m", "two/m"]) {
      const { provider, model, maxTokens, temperature } = choose.choose(label);
      await collect(provider, { model, system: "", messages: [], tools: [], maxTokens, temperature });
    }
    const heads = [...one.requests, ...two.requests].map(({ headers }) => JSON.stringify(headers));
    assert.equal(heads.length, 2);
    assert.ok(heads[0]?.includes("key-one") && !heads[0].includes("key-two"));
    assert.ok(heads[1]?.includes("key-two") && !heads[1].includes("key-one") && heads[1].includes("blue"));
  });
});

describe("a local Ollama", () => {
  const withServer = async (body: string | undefined, use: (address: string) => Promise<void>): Promise<void> => {
    const server = createServer((request, response) => {
      assert.equal(request.url, "/api/tags");
      if (body !== undefined) response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // A TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    try {
      await use(`http://127.0.0.1:${port}`);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  };

  test("its first model that can talk is found", async () => {
    const models = [
      { name: "nomic-embed-text:latest", details: { family: "nomic-bert" } },
      { name: "llama3.2:3b", details: { family: "llama" } },
      { name: "qwen3:8b" },
    ];
    await withServer(JSON.stringify({ models }), async (address) => {
      const found = await findLocalOllama({ address, timeoutMs: 2000 }, noAbort);
      assert.deepEqual(found, { model: "llama3.2:3b", apiBase: `${address}/v1` });
    });
  });

  for (const [what, body] of [
    ["without models", '{"models":[]}'],
    ["that is something else", "<html>"],
    ["of another shape", '{"models":{}}'],
    ["that does not answer in time", undefined],
  ] as const) {
    test(`one ${what} is not used`, async () => {
      await withServer(body, async (address) => {
        const began = performance.now();
        assert.equal(await findLocalOllama({ address }, noAbort), undefined);
        assert.ok(performance.now() - began < 10_000);
      });
    });
  }

  test("no server at all means that there is no Ollama", async () => {
    assert.equal(await findLocalOllama({ address: "http://127.0.0.1:1" }, noAbort), undefined);
  });
});
