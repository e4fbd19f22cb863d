import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../../../src/errors.js";
import { textOf } from "../../../../src/events/content.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { openAIConfig, startGateway, type TestGateway } from "../../../support/worlds/gateway.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const key = "webui:test";
const refusal: ScriptedAnswer = { status: 400, body: { error: { message: "no such thing" } } };

test("a failed turn is tried again with the same message, written once, and the model answers it", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, { text: "Blue." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const failed = await failedTurn(gateway, "which colour?");
  const { messageId, status } = await gateway.gateway.api.retryTurn({ sessionKey: key, turnId: failed });
  assert.equal(status, "accepted");
  const { end, response } = await gateway.outcome(messageId);
  assert.deepEqual({ end, response }, { end: "complete", response: "Blue." });
  const [first, second] = model.requests;
  assert.deepEqual(second?.body.messages, first?.body.messages);
  const { messages } = await gateway.gateway.api.getSession(key);
  assert.deepEqual(
    messages.map(({ role, content }) => (role === "error" ? role : `${role}: ${content}`)),
    ["user: which colour?", "error", "assistant: Blue."],
  );
  const start = (await gateway.events()).findLast(({ type }) => type === "turn_execution_start");
  assert.equal(start?.type === "turn_execution_start" && start.payload.retry_of, failed);
});

test("a tool that was run before the turn failed is not run again: the model sees its result", async () => {
  const write = { toolCalls: [{ id: "call_1", name: "write_file", input: { path: "a.txt", content: "once" } }] };
  await using model = await startFakeOpenAI({ answer: [write, refusal, { text: "Written." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const failed = await failedTurn(gateway, "write it");
  const { messageId } = await gateway.gateway.api.retryTurn({ sessionKey: key, turnId: failed });
  assert.equal((await gateway.outcome(messageId)).response, "Written.");
  const events = await gateway.events();
  assert.equal(events.filter(({ type }) => type === "tool_execution_start").length, 1);
  assert.deepEqual(rolesOf(model.requests.at(-1)), ["system", "user", "assistant", "tool"]);
});

test("it is refused where there is nothing to try again, by a code that says why", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, { text: "Good." }, refusal, { text: "Other." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const { api } = gateway.gateway;
  const refusedFor = async (turnId: string, sessionKey = key): Promise<unknown> =>
    await api.retryTurn({ sessionKey, turnId }).catch((error: unknown) => error instanceof RequestError && error.code);
  const failed = await failedTurn(gateway, "one");
  assert.equal(await refusedFor("turn_unknown"), "not_last");
  assert.equal(await refusedFor(failed, "webui:elsewhere"), "not_found");
  const { messageId } = await api.retryTurn({ sessionKey: key, turnId: failed, messageId: "msg_again_1" });
  assert.equal((await gateway.outcome(messageId)).end, "complete");
  assert.equal(await refusedFor(failed), "already_retried");
  // Its answer was lost on the way: the same id changes nothing.
  assert.equal((await api.retryTurn({ sessionKey: key, turnId: failed, messageId })).status, "duplicate");
  assert.equal(await refusedFor(turnOf(await gateway.events(), "turn_execution_complete")), "not_failed");
  const second = await failedTurn(gateway, "two");
  await gateway.ask("three");
  assert.equal(await refusedFor(second), "not_last");
  assert.equal(model.requests.length, 4);
});

test("of wishes that come at the same moment one counts, and the others leave nothing behind", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, { text: "Blue." }, { text: "Green." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const failed = await failedTurn(gateway, "which colour?");
  const wishes = ["msg_a", "msg_b", "msg_b", "msg_c"].map((messageId) =>
    gateway.gateway.api.retryTurn({ sessionKey: key, turnId: failed, messageId }).then(
      ({ status }) => status,
      (error: unknown) => error instanceof RequestError && error.code,
    ),
  );
  const outcomes = (await Promise.all(wishes)).sort();
  assert.equal(outcomes.filter((outcome) => outcome === "accepted").length, 1, outcomes.join());
  assert.equal((await gateway.ask("and now?")).end, "complete");
  const { messages } = await gateway.gateway.api.getSession(key);
  assert.deepEqual(messages.flatMap(({ role, content }) => (role === "error" ? [] : [content])).slice(0, 3), [
    "which colour?",
    "Blue.",
    "and now?",
  ]);
});

test("it is refused while another turn runs, and its try is a turn like any other: undone with its question", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, { text: "Blue." }, { text: "Hello." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const failed = await failedTurn(gateway, "which colour?");
  const { api } = gateway.gateway;
  const results = await Promise.allSettled([1, 2, 3].map(() => api.retryTurn({ sessionKey: key, turnId: failed })));
  assert.ok(results.some(({ status }) => status === "fulfilled"));
  await gateway.waitForEvent((event) => event.type === "turn_execution_complete");
  assert.match((await gateway.ask("/undo")).response, /Undone\. I no longer see “which colour\?”/);
  await gateway.ask("hello");
  assert.equal(model.requests.length, 3);
  assert.deepEqual(rolesOf(model.requests.at(-1)), ["system", "user"]);
});

test("a try that fails can be tried again; a copy of the session tries on its own", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, refusal, { text: "Three." }, { text: "Copy." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  const { api } = gateway.gateway;
  const first = await failedTurn(gateway, "go");
  await gateway.outcome((await api.retryTurn({ sessionKey: key, turnId: first })).messageId);
  const second = turnOf(await gateway.events(), "turn_execution_failed");
  assert.notEqual(second, first);
  const copy = await api.forkSession(key, undefined);
  const third = await api.retryTurn({ sessionKey: key, turnId: second });
  assert.equal((await gateway.outcome(third.messageId)).response, "Three.");
  const copied = turnOf(await gateway.events(copy.key), "turn_execution_failed");
  const ofCopy = await api.retryTurn({ sessionKey: copy.key, turnId: copied });
  assert.notEqual(ofCopy.messageId, third.messageId);
  assert.equal((await gateway.outcome(ofCopy.messageId, copy.key)).response, "Copy.");
});

test("/retry tries again in any chat, and says so where there is nothing to try", async () => {
  await using model = await startFakeOpenAI({ answer: [refusal, { text: "Blue." }] });
  await using gateway = await startGateway({ config: openAIConfig(model.apiBase) });
  assert.match((await gateway.ask("/retry")).response, /nothing to try again/);
  await failedTurn(gateway, "which colour?");
  await gateway.ask("/status");
  assert.equal((await gateway.ask("/retry")).response, "I am trying it again.");
  const answer = await gateway.waitForEvent(
    (event) => event.type === "assistant_message" && textOf(event.payload.content) === "Blue.",
  );
  assert.ok(answer);
  assert.match((await gateway.ask("/retry")).response, /nothing to try again/);
});

test("what a budget refused is tried again with its words, once there is room", async () => {
  await using model = await startFakeOpenAI({ answer: [{ text: "One." }, { text: "Two." }] });
  const limited = openAIConfig(model.apiBase, { budgets: { session: { turns: 1 } } });
  const begun = await startGateway({ config: limited });
  await begun.ask("one");
  const failed = await failedTurn(begun, "two, please");
  await using gateway = await begun.restart(openAIConfig(model.apiBase));
  const { messageId } = await gateway.gateway.api.retryTurn({ sessionKey: key, turnId: failed });
  assert.equal((await gateway.outcome(messageId)).response, "Two.");
  assert.match(model.requests.at(-1)?.userText ?? "", /two, please/);
  const { messages } = await gateway.gateway.api.getSession(key);
  assert.equal(messages.filter(({ content }) => content === "two, please").length, 1);
});

async function failedTurn(gateway: TestGateway, text: string): Promise<string> {
  assert.equal((await gateway.ask(text)).end, "failed");
  return turnOf(await gateway.events(), "turn_execution_failed");
}

function turnOf(events: readonly StoredEvent[], type: StoredEvent["type"]): string {
  return events.findLast((event) => event.type === type)?.turn_id ?? "";
}

function rolesOf(request: RecordedRequest | undefined): unknown {
  const messages = request?.body.messages;
  return Array.isArray(messages) ? messages.map(({ role }: { readonly role: unknown }) => role) : [];
}
