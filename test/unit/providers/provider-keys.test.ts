import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createModelChooser } from "../../../src/providers/catalogue/choose.js";
import {
  misplacedKey,
  openKey,
  type ProviderSettings,
  presets,
  toUsable,
} from "../../../src/providers/catalogue/presets.js";
import { collect, hello } from "../../contracts/provider/calls.js";
import { startFakeAnthropic } from "../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../support/fakes/models/fake-openai.js";
import { projectFile } from "../../support/project.js";

const settings = (apiKey: string, apiBase?: string): ProviderSettings => ({ apiKey, apiBase, models: [] });
const keys = {
  anthropic: "sk-ant-api03-abcdefgh",
  openrouter: "sk-or-v1-abcdefgh",
  openai: "sk-proj-abcdefgh",
  groq: "gsk_abcdefgh",
  gemini: "AIzaSyAbcdefgh",
} as const;

describe("a key", () => {
  test("that visibly belongs to one provider is not sent to another known address, by whatever name", () => {
    for (const [owner, key] of Object.entries(keys)) {
      for (const [name, { apiBase }] of Object.entries(presets)) {
        const isOwn = name === owner;
        assert.equal(toUsable(name, settings(key)) !== undefined, isOwn, `${owner}'s key in ${name}`);
        assert.equal(toUsable("mine", settings(key, apiBase)) !== undefined, isOwn, `${owner}'s key at ${apiBase}`);
        assert.equal(toUsable(owner, settings(key, apiBase)) !== undefined, isOwn, `${owner} with ${apiBase}`);
      }
    }
  });

  test("is sent to an address of one's own, and one that nobody recognises goes where the config says", () => {
    for (const key of Object.values(keys))
      assert.ok(toUsable("openai", settings(key, "https://proxy.example.org/v1")) !== undefined);
    assert.ok(toUsable("openai", settings("sk-0123456789", "https://api.deepseek.com/v1")) !== undefined);
  });

  test("in the wrong place is told with where it belongs, and without the key", () => {
    const told = misplacedKey("openai", settings(keys.anthropic)) ?? "";
    assert.match(
      told,
      /providers\.openai\.apiKey looks like a key of anthropic.*api\.openai\.com.*Move it to providers\.anthropic/,
    );
    assert.ok(!told.includes("abcdefgh"));
    const choose = createModelChooser({
      providers: { openai: settings(keys.anthropic) },
      defaults: { maxTokens: 1, contextWindow: 128_000 },
      prices: {},
    }).choose;
    assert.throws(() => choose("openai/gpt-5.6"), /looks like a key of anthropic/);
  });

  test("without encryption is told, except for one's own machines", () => {
    const isTold = (apiBase: string): boolean => openKey("x", settings("k", apiBase)) !== undefined;
    for (const far of [
      "http://api.example.org/v1",
      "http://8.8.8.8/v1",
      "http://172.32.0.1/v1",
      "http://[2001:db8::1]/v1",
    ])
      assert.ok(isTold(far), far);
    for (const near of [
      "https://api.example.org/v1",
      "http://127.0.0.1:1/v1",
      "http://localhost:1/v1",
      "http://10.1.2.3/v1",
      "http://192.168.1.2/v1",
      "http://172.20.0.1/v1",
      "http://100.64.0.9/v1",
      "http://nas.local/v1",
      "http://vllm:8000/v1",
      "http://[::1]:8000/v1",
      "http://[fd00::5]:8000/v1",
    ])
      assert.ok(!isTold(near), near);
    assert.equal(openKey("x", { apiBase: "http://api.example.org/v1", models: [] }), undefined);
  });

  test("and a header are seen by no server but their own, whatever the label is", async () => {
    await using one = await startFakeOpenAI({ answer: { text: "one" } });
    await using two = await startFakeAnthropic({ answer: { text: "two" } });
    await using three = await startFakeOpenAI({ answer: { text: "three" } });
    const servers = { one, two, three };
    const chooser = createModelChooser({
      providers: {
        one: {
          ...settings("key-of-one", one.apiBase),
          headers: { "x-own": "header-of-one" },
          models: [{ id: "two/m" }],
        },
        two: {
          ...settings("key-of-two", two.apiBase),
          apiFormat: "anthropic",
          headers: { "x-own": "header-of-two" },
          models: [{ id: "plain" }],
        },
        // Without a key of its own it must not be given another's.
        three: { apiBase: three.apiBase, models: [] },
      },
      defaults: { maxTokens: 100, contextWindow: 128_000 },
      prices: {},
    });
    for (const label of ["one/two/m", "two/one/m", "plain", "one/three/x", "three/one/x", "three/two", "two/m"]) {
      const { provider, model } = chooser.choose(label);
      await collect(provider, { ...hello, model });
    }
    for (const [name, { requests }] of Object.entries(servers)) {
      assert.ok(requests.length > 0, name);
      for (const { headers } of requests) {
        const said = JSON.stringify(headers);
        for (const other of Object.keys(servers))
          assert.equal(said.includes(`-of-${other}`), other === name && name !== "three", `${other}'s at ${name}`);
      }
    }
  });
});

test("docs/providers.md lists the known addresses as they are", () => {
  const page = readFileSync(projectFile("docs/providers.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` +\| `(https?:[^`]+)` +\| (\w+) +\|$/gm)];
  assert.deepEqual(
    rows.map(([, name, apiBase, apiFormat]) => [name, apiBase, apiFormat]),
    Object.entries(presets).map(([name, { apiBase, apiFormat }]) => [name, apiBase, apiFormat]),
  );
});

describe("limits of time", () => {
  test("are the config's in seconds, and longer for models on one's own machine", () => {
    const timeouts = { firstByte: 0.5, total: 90 };
    assert.deepEqual(toUsable("openai", { ...settings("k"), timeouts })?.limits, { firstByteMs: 500, totalMs: 90_000 });
    const local = toUsable("ollama", { apiBase: "http://127.0.0.1:11434/v1", models: [], timeouts: { idle: 7 } });
    assert.deepEqual(local?.limits, { firstByteMs: 300_000, idleMs: 7000 });
  });

  test("of the config reach the call", async () => {
    await using server = await startFakeOpenAI({ answer: { hang: "start" } });
    const { choose } = createModelChooser({
      providers: { acme: { ...settings("k", server.apiBase), timeouts: { firstByte: 0.05 } } },
      defaults: { maxTokens: 1, contextWindow: 128_000 },
      prices: {},
    });
    await assert.rejects(collect(choose("acme/m").provider), /did not begin to answer within 50 ms/);
  });
});
