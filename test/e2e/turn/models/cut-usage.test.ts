import assert from "node:assert/strict";
import { test } from "node:test";
import { noUsage } from "../../../../src/events/content.js";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { startWithModel } from "../../../support/worlds/gateway.js";
import type { AnswerScript } from "../../../support/worlds/model-script.js";

const prices = { m: { input: 3, output: 15, cacheRead: 0.3 } };
const usage = { input: 1000, output: 5, cacheRead: 200 };

async function start(answer: AnswerScript, startFake = startFakeAnthropic, more: Record<string, unknown> = {}) {
  const apiFormat = startFake === startFakeAnthropic ? "anthropic" : "openai";
  const config = (apiBase: string) => ({
    agents: { defaults: { model: "acme/m" } },
    providers: { acme: { apiKey: "key-of-acme", apiBase, apiFormat } },
    prices,
    ...more,
  });
  const scripted = await startWithModel(answer, config, { startFake, modelRetryMs: 1 });
  const { gateway } = scripted;
  const stopInTheMiddle = async (): Promise<void> => {
    const message = await gateway.post("tell me a story");
    await gateway.waitForEvent(({ type }) => type === "text_delta");
    await gateway.gateway.api.stopTurn("webui:test");
    assert.equal((await gateway.outcome(message)).end, "cancelled");
  };
  return { ...scripted, stopInTheMiddle };
}

test("a stopped answer counts what its stream had named, and guesses what was written", async () => {
  await using t = await start({ text: ["x".repeat(400)], usage, hang: "middle" });
  await t.stopInTheMiddle();
  const [partial] = (await t.gateway.events()).flatMap((event) =>
    event.type === "assistant_message" && event.source !== "gateway" ? [event.payload] : [],
  );
  const named = { input_tokens: 1000, output_tokens: 1, cache_read_tokens: 200, cache_write_tokens: 0 };
  const cost = (1000 * 3 + 200 * 0.3 + 1 * 15) / 1_000_000;
  const guess = { tokens: 99, cost_usd: (99 * 15) / 1_000_000 };
  assert.deepEqual([partial?.partial, partial?.usage, partial?.guess], [true, named, guess]);
  const of = await t.api.sessionUsage("webui:test");
  const { total } = t.api.usage(1);
  // What is known and what is guessed are kept apart everywhere.
  for (const used of [of, of.conversation, total]) {
    assert.deepEqual([used.usage, used.guessedTokens], [named, 99]);
    assert.ok(Math.abs((used.costUsd ?? 0) - cost) < 1e-9 && Math.abs((used.guessedUsd ?? 0) - guess.cost_usd) < 1e-9);
  }
  assert.match((await t.gateway.ask("/usage")).response, /Cut off in it, as a guess: 99 tokens/);
});

test("budgets of the session and of the day count stopped answers", async () => {
  for (const scope of ["session", "day"]) {
    await using t = await start({ text: ["x".repeat(400)], usage, hang: "middle" }, startFakeAnthropic, {
      budgets: { [scope]: { tokens: 3000 } },
    });
    await t.stopInTheMiddle();
    // The next prompt alone would fit.
    assert.match((await t.gateway.ask("go on")).response, /budget .* is not enough to go on: 1,300 tokens/);
    assert.equal(t.model.requests.length, 1);
  }
});

test("what failed attempts have used counts too, though nothing of them is kept", async () => {
  await using t = await start([
    { text: ["half"], usage, streamError: { type: "overloaded_error", message: "busy" } },
    { text: ["whole"], usage },
  ]);
  assert.equal((await t.gateway.ask("hi")).response, "whole");
  const { api } = t;
  const of = await api.sessionUsage("webui:test");
  assert.deepEqual([of.usage.input_tokens, of.usage.cache_read_tokens], [2000, 400]);
  assert.deepEqual(of.conversation.usage, of.usage);
  assert.equal(api.usage(1).total.usage.input_tokens, 2000);
});

test("an answer that failed for good counts what its stream had named", async () => {
  const broken = { text: ["half"], usage, streamError: { type: "invalid_request_error", message: "no" } };
  await using t = await start(broken);
  assert.equal((await t.gateway.ask("hi")).end, "failed");
  const of = await t.api.sessionUsage("webui:test");
  assert.equal(of.usage.input_tokens, 1000);
  assert.deepEqual(of.conversation.usage, of.usage);
});

test("a stop before the first word counts the prompt that had been named", async () => {
  await using t = await start({ usage, hang: "middle" });
  const message = await t.gateway.post("hi");
  await t.model.waitForRequests(1);
  await t.api.stopTurn("webui:test");
  await t.gateway.outcome(message);
  const { usage: told, guessedTokens = 0 } = await t.api.sessionUsage("webui:test");
  assert.ok(told.input_tokens + guessedTokens > 0, "named, or guessed where the stop was faster");
});

test("without any figures all of it is a guess, and marked as one", async () => {
  await using t = await start({ text: ["x".repeat(400)], hang: "middle" }, startFakeOpenAI);
  await t.stopInTheMiddle();
  const { api } = t;
  const of = await api.sessionUsage("webui:test");
  const { total } = api.usage(1);
  for (const used of [of, of.conversation, total]) {
    assert.deepEqual(used.usage, noUsage);
    assert.ok((used.guessedTokens ?? 0) > 600 && (used.guessedUsd ?? 0) > 0);
  }
});

test("a guess at what has no price names no amount", async () => {
  await using t = await start({ text: ["x".repeat(400)], usage, hang: "middle" }, startFakeAnthropic, { prices: {} });
  await t.stopInTheMiddle();
  assert.match((await t.gateway.ask("/usage")).response, /Cut off in it, as a guess: 99 tokens, cost unknown$/m);
});

test("who is refused from the start pays nothing", async () => {
  await using t = await start({ status: 500 });
  assert.equal((await t.gateway.ask("hi")).end, "failed");
  const { api } = t;
  assert.deepEqual((await api.sessionUsage("webui:test")).usage, noUsage);
  assert.deepEqual([api.usage(1).total.usage, api.usage(1).total.guessedTokens], [noUsage, 0]);
});
