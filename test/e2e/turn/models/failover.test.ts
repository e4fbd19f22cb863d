import assert from "node:assert/strict";
import { test } from "node:test";
import type { GatewayEvent, StoredEvent } from "../../../../src/events/event.js";
import { startFakeAnthropic } from "../../../support/fakes/models/fake-anthropic.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { assertSound, startGateway } from "../../../support/worlds/gateway.js";
import type { AnswerScript, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const look = (id: string): ScriptedAnswer => ({
  toolCalls: [{ id, name: "list_dir", input: { path: "." } }],
});

/** Two providers, the second of which stands in for the first. */
async function two(
  first: AnswerScript,
  second: AnswerScript,
  more: Record<string, unknown> = {},
  startOther = startFakeOpenAI,
) {
  const one = await startFakeAnthropic({ answer: first });
  const other = await startOther({ answer: second });
  const apiFormat = startOther === startFakeOpenAI ? "openai" : "anthropic";
  const gateway = await startGateway({
    config: {
      agents: { defaults: { model: "one/claude-haiku-4-5", fallbacks: ["other/gpt-x"], thinking: "low" } },
      memory: { titles: "first" },
      providers: {
        one: { apiKey: "key-of-one", apiBase: one.apiBase, apiFormat: "anthropic" },
        other: { apiKey: "key-of-other", apiBase: other.apiBase, apiFormat },
      },
      ...more,
    },
    modelRetryMs: 1,
  });
  return {
    one,
    other,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

const answersOf = (events: readonly StoredEvent[]) =>
  events.flatMap((event) => (event.type === "assistant_message" ? [event] : []));

test("an answer that breaks off is ended as an error, and the stand-in's is a message of its own", async () => {
  await using t = await two(
    { text: ["half ", "of it"], streamError: { type: "overloaded_error", message: "busy" } },
    { text: ["all ", "of it"], usage: { input: 7, output: 3 } },
    { prices: { "gpt-x": { input: 1, output: 1 } } },
  );
  const live: GatewayEvent[] = [];
  const watching = t.gateway.gateway.api.subscribe("*", {}, (event) => void live.push(event));
  await watching.caughtUp;
  const outcome = await t.gateway.ask("tell me");
  watching.close();
  assert.equal(outcome.response, "all of it");
  assert.equal(t.one.requests.length, 3);

  const streamed = live.flatMap((event) => {
    if (event.type === "message_stream_start") return [`start ${event.payload.model}`];
    if (event.type === "message_stream_end") return [`end ${event.payload.stop_reason}`];
    return event.type === "text_delta" ? [event.payload.text] : [];
  });
  const attempt = ["start one/claude-haiku-4-5", "half ", "of it", "end error"];
  assert.deepEqual(streamed, [
    ...attempt,
    ...attempt,
    ...attempt,
    "start other/gpt-x",
    "all ",
    "of it",
    "end end_turn",
  ]);
  const starts = live.flatMap((event) => (event.type === "message_stream_start" ? [event.payload.message_id] : []));
  assert.equal(new Set(starts).size, 4, "each begun message has an id of its own");

  const events = await t.gateway.events();
  assertSound(events);
  const [answer, ...others] = answersOf(events);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [answer?.payload.model, answer?.source, answer?.payload.final],
    ["other/gpt-x", "provider:other", true],
  );
  assert.equal(answer?.payload.message_id, starts.at(-1));
  const { metadata } = await t.gateway.gateway.api.getSession("webui:test");
  // The attempts that broke off had named ten tokens each, which their provider bills.
  assert.deepEqual([metadata.model, metadata.usage.input_tokens], ["other/gpt-x", 37]);
  assert.equal(metadata.costUsd, 0.00001, "nobody knows the price of the first");
  assert.ok(!JSON.stringify(events).includes("half "), "nothing of the abandoned text is kept");
});

test("a turn goes on with the stand-in from the tool results on, and never shows it another model's thinking", async () => {
  await using t = await two(
    [{ thinking: "secret plan", signature: "sig-1", ...look("a") }, { status: 500 }, { status: 500 }, { status: 500 }],
    (request) => (request.index === 0 ? look("b") : { text: "done" }),
    {},
    startFakeAnthropic,
  );
  assert.equal((await t.gateway.ask("look twice")).response, "done");
  assert.equal(t.other.requests.length, 2, "the stand-in stays for the rest of the turn");
  assert.ok(t.one.requests[1]?.bodyText.includes("secret plan"), "its own thinking goes back to the model");
  assert.ok(!t.other.requests.some(({ bodyText }) => bodyText.includes("secret plan")));
  const events = await t.gateway.events();
  assertSound(events);
  assert.deepEqual(
    answersOf(events).map(({ payload }) => payload.model),
    ["one/claude-haiku-4-5", "other/gpt-x", "other/gpt-x"],
  );
});

test("a wait that the server names is not waited for while another model can answer", async () => {
  await using t = await two({ status: 429, headers: { "retry-after": "30" } }, { text: "at once" });
  const began = Date.now();
  assert.equal((await t.gateway.ask("hi")).response, "at once");
  assert.ok(Date.now() - began < 20_000);
  assert.equal(t.one.requests.length, 1);
  assert.equal((await t.gateway.ask("and again", { key: "webui:other" })).response, "at once");
  assert.equal(t.one.requests.length, 1, "it rests for all chats");
  assert.match(
    (await t.gateway.gateway.api.status()).problems.join(),
    /one\/claude-haiku-4-5 is asked after .* for another (29|30) s/,
  );
});

test("when all fail the first one's failure is told, and the event names all", async () => {
  await using t = await two({ status: 401 }, { status: 402 });
  const outcome = await t.gateway.ask("hi");
  assert.match(outcome.response, /refused our key/);
  const failed = (await t.gateway.events()).find((event) => event.type === "turn_execution_failed");
  assert.ok(failed?.type === "turn_execution_failed");
  assert.equal(failed.payload.code, "AUTH_FAILED");
  assert.match(failed.payload.message, /one refused the API key .*401.* Then: other refused for lack of credit .*402/);
  assert.ok(!failed.payload.message.includes("key-of"));
  // With everything at rest the order of the config counts again.
  await t.gateway.ask("once more");
  assert.deepEqual([t.one.requests.length, t.other.requests.length], [2, 2]);
});

test("a stop while a stand-in is due asks nobody any more", async () => {
  await using t = await two({ status: 429, headers: { "retry-after": "4" } }, { text: "too late" });
  const message = await t.gateway.post("hi");
  await t.one.waitForRequests(1);
  await t.gateway.gateway.api.stopTurn("webui:test");
  assert.equal((await t.gateway.outcome(message)).end, "cancelled");
  assert.equal(t.other.requests.length, 0);
  assertSound(await t.gateway.events());
});

test("a stand-in that the config does not know is a problem and nothing else", async () => {
  await using model = await startFakeOpenAI({
    answer: ({ body }) => (body.model === "a" ? { status: 401 } : { text: "c" }),
  });
  const config = {
    agents: { defaults: { model: "acme/a", fallbacks: ["nobody/b", "acme/c"] } },
    providers: { acme: { apiKey: "key-of-acme", apiBase: model.apiBase } },
  };
  await using gateway = await startGateway({ config });
  assert.match((await gateway.gateway.api.status()).problems.join(), /No configured provider has the model nobody\/b/);
  assert.equal((await gateway.ask("hi")).response, "c");
});
