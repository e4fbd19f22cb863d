import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { answerCost, costOf } from "../../../src/events/machines/answer.js";
import { presets } from "../../../src/providers/catalogue/presets.js";
import { priceOf, pricesAsOf, shippedPrices } from "../../../src/providers/catalogue/prices.js";
import { projectFile } from "../../support/project.js";

const price = (provider: string, model: string, configured = {}) =>
  priceOf(configured, { label: `${provider}/${model}`, provider, model });

describe("prices", () => {
  test("are shipped for a few dozen models of known providers, with their date, and make sense", () => {
    const shipped = [...shippedPrices()];
    assert.ok(shipped.length >= 50, `${shipped.length} models`);
    for (const [name, { input, output, cacheRead = 0, above }] of shipped) {
      assert.ok(Object.hasOwn(presets, name.slice(0, name.indexOf("/"))), name);
      assert.ok(input > 0 && output >= input && cacheRead < input && output < 200, name);
      if (above !== undefined) assert.ok(above.tokens >= 100_000 && above.input > input, name);
    }
    assert.ok(readFileSync(projectFile("docs/budgets.md"), "utf8").includes(pricesAsOf));
  });

  test("of the config go first: by label, by provider and model, by model", () => {
    const own = { input: 1, output: 2 };
    for (const name of ["openai/gpt-5.6", "gpt-5.6"]) assert.equal(price("openai", "gpt-5.6", { [name]: own }), own);
    const named = priceOf({ "My GPT": own }, { label: "My GPT", provider: "openai", model: "gpt-5.6" });
    assert.equal(named, own);
  });

  test("hold for a dated name, and for the same model through OpenRouter", () => {
    assert.deepEqual(price("anthropic", "claude-haiku-4-5-20251001"), {
      input: 1,
      output: 5,
      cacheRead: 0.1,
      cacheWrite: 1.25,
    });
    assert.equal(price("openai", "gpt-4o-2024-11-20"), price("openai", "gpt-4o"));
    assert.equal(price("openrouter", "anthropic/claude-sonnet-4.5"), price("anthropic", "claude-sonnet-4-5"));
    assert.equal(price("openrouter", "google/gemini-2.5-pro"), price("gemini", "gemini-2.5-pro"));
    assert.equal(price("openrouter", "moonshotai/kimi-k3:nitro"), price("moonshot", "kimi-k3"));
  });

  test("are nothing where a model is free, and unknown where nobody knows", () => {
    const free = { input: 0, output: 0 };
    assert.deepEqual(price("ollama", "qwen3:8b"), free);
    assert.deepEqual(price("openrouter", "meta-llama/llama-4:free"), free);
    assert.equal(price("openai", "gpt-99"), undefined);
    assert.equal(price("mine", "gpt-4o"), undefined);
    assert.equal(price("openai", "gpt-4o-mini-tts"), undefined);
    assert.equal(price("constructor", "x"), undefined);
  });

  test("count cached tokens at their own price, and long prompts at theirs", () => {
    const tokens = (input_tokens: number, cache_read_tokens = 0) => ({
      input_tokens,
      output_tokens: 1_000_000,
      cache_read_tokens,
      cache_write_tokens: 0,
    });
    const haiku = price("anthropic", "claude-haiku-5-5") ?? assert.fail("no price");
    assert.equal(costOf(tokens(100_000), haiku), 0.01 + 0.5);
    assert.equal(costOf(tokens(1, 100_000), haiku), (1 * 0.5 + 100_000 * 0.05) / 1e6 + 2.5);
    assert.equal(answerCost({ usage: tokens(1), costUsd: 0.7 }, haiku), 0.7);
    assert.equal(answerCost({ usage: tokens(1) }, undefined), undefined);
  });
});
