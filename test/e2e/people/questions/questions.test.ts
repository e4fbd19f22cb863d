import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RequestError } from "../../../../src/errors.js";
import { until } from "../../../support/engine/engine-kit.js";
import {
  answeredIn,
  askedIn,
  type ChatWorld,
  callThenDone,
  group,
  isAsked,
  lastResult,
  resultsIn,
  startWorld,
} from "../../../support/worlds/channels/chat-world.js";
import { assertSound, causesOf } from "../../../support/worlds/gateway.js";

const drinks = {
  question: "What shall I order?",
  options: ["Coffee", "Tea", "Water"],
  default: "Tea",
};
const short = { question: "Go on?", options: ["Yes", "No"] };

async function settled({ gateway, telegram }: ChatWorld): Promise<void> {
  await until(
    "all is at rest",
    async () => {
      const { inboundWaiting, outboundWaiting } = await gateway.gateway.api.status();
      return inboundWaiting + outboundWaiting + telegram.pending === 0;
    },
    10_000,
  );
}

async function assertAllAnswered({ gateway }: ChatWorld): Promise<void> {
  const ends = (await gateway.gateway.api.ledger()).map(({ end }) => end);
  assert.ok(ends.length > 0 && ends.every((end) => end === "answered"), ends.join(", "));
}

test("an answer may look like a command, and an unknown command elsewhere is told at once", async () => {
  await using w = await startWorld(callThenDone("ask_human", { question: "Which folder?" }));
  w.say(42, "tidy up");
  await w.shown("Which folder?");
  w.say(42, "/tmp");
  await w.shown("done: /tmp");
  w.say(42, "/tidy");
  await w.shown("/tidy is not a command.");
});

test("a question comes with buttons; who asked presses one, the turn goes on with it, and the buttons go", async () => {
  await using w = await startWorld(callThenDone("ask_human", drinks));
  w.say(42, "order something");
  const question = await w.shown("What shall I order?");
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["Coffee", "Tea", "Water"],
  );
  w.press(question, "Tea", 42);
  await w.shown("done: Tea");
  assert.deepEqual(
    (await w.toasts(1)).map(({ text, isAlert }) => [text, isAlert]),
    [["Tea", false]],
  );
  await until("the buttons are gone", () => w.telegram.edited.length === 1);
  assert.match(w.telegram.edited[0]?.text ?? "", /What shall I order\?[\s\S]*✓ Tea$/);
  assert.equal(w.telegram.edited[0]?.messageId, question.messageId);
  await settled(w);
  const events = await w.gateway.events("telegram:42");
  assertSound(events);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "agent_state_changed" ? [event.payload.to] : [])),
    [
      "thinking",
      "planning_tool",
      "awaiting_tool_result",
      "awaiting_human",
      "awaiting_tool_result",
      "thinking",
      "responding",
      "idle",
    ],
  );
  assert.equal(answeredIn(events)[0]?.responder_id, "telegram:42");
  const sent = events.filter((event) => event.type === "outbound_delivery_changed" && event.payload.status === "sent");
  assert.equal(sent.length, 2);
  for (const event of sent) assert.equal(causesOf(event, events).at(-1)?.type, "user_message_queued");
  await assertAllAnswered(w);
});

test("in a group only who asked or an owner can answer; others and later ones are told why not", async () => {
  await using w = await startWorld(callThenDone("ask_human", short));
  w.sayInGroup(42, "Ann", "shall we?");
  const question = await w.shown("Go on?");
  w.press(question, "Yes", 43, "Ben");
  assert.match((await w.toasts(1))[0]?.text ?? "", /Only User 42|Only Ann or an owner/);
  w.sayInGroup(43, "Ben", "1");
  await w.shown(/^Only Ann or an owner of this assistant can answer this\.$/);
  w.sayInGroup(43, "Ben", "/approve");
  assert.equal(w.gateway.gateway.api.listQuestions().length, 1, "it is still open");
  w.press(question, "No", 1, "Olga");
  await w.shown("done: No");
  w.press(question, "Yes", 42, "Ann");
  const toasts = await w.toasts(3);
  assert.deepEqual(
    toasts.slice(1).map(({ text, isAlert }) => [text, isAlert]),
    [
      ["No", false],
      ["This question is closed: answered with “No”.", true],
    ],
  );
  const events = await w.gateway.events(group);
  assertSound(events);
  assert.deepEqual(
    answeredIn(events).map(({ outcome, answer, responder_id }) => [outcome, answer, responder_id]),
    [["answered", "No", "telegram:1"]],
  );
  assert.ok(!events.some((event) => event.type === "user_message_queued" && event.payload.sender_id === "43"));
});

test("a button of one chat answers nothing in another", async () => {
  await using w = await startWorld(callThenDone("ask_human", short));
  w.say(42, "ask");
  const question = await w.shown("Go on?");
  const data = question.buttons?.[0]?.[0]?.callback_data;
  const message = { message_id: 7, date: 0, chat: { id: 1, type: "private" } };
  const from = { id: 1, is_bot: false, first_name: "Olga" };
  w.telegram.pushUpdate({ callback_query: { id: "x1", from, chat_instance: "1", data, message } });
  w.telegram.pushUpdate({ callback_query: { id: "x2", from, chat_instance: "1", data: "ask_none:1", message } });
  w.telegram.pushUpdate({ callback_query: { id: "x3", from, chat_instance: "1", data: "nonsense", message } });
  for (const { text, isAlert } of await w.toasts(3)) {
    assert.match(text, /another chat|no such question/);
    assert.equal(isAlert, true);
  }
  w.press(question, "Yes", 42);
  await w.shown("done: Yes");
});

for (const [how, text, expected] of [
  ["its number", "2", "Tea"],
  ["its number and a dot", "3.", "Water"],
  ["its label", "coffee!", "Coffee"],
  ["one's own words", "Hot chocolate, please", "Hot chocolate, please"],
] as const)
  test(`a question is answered in writing, by ${how}; the message ends with the turn`, async () => {
    await using w = await startWorld(callThenDone("ask_human", drinks));
    w.say(42, "order something");
    await w.shown("What shall I order?");
    w.say(42, text);
    await w.shown(`done: ${expected}`);
    await settled(w);
    const events = await w.gateway.events("telegram:42");
    assertSound(events);
    assert.equal(w.model.requests.length, 2, "the answer starts no turn of its own");
    const [end] = events.filter((event) => event.type === "turn_execution_complete");
    assert.equal(end?.type === "turn_execution_complete" && end.payload.message_ids.length, 2);
    assert.equal(events.filter((event) => event.type === "user_message").length, 1);
    await assertAllAnswered(w);
  });

test("an option that is called like a stop phrase is the answer; /stop stops all the same", async () => {
  await using w = await startWorld(callThenDone("ask_human", { question: "And now?", options: ["Go on", "Stop"] }));
  w.say(42, "ask");
  await w.shown("And now?");
  w.say(42, "stop");
  await w.shown("done: Stop");
  w.say(42, "ask again");
  await until("it is asked again", () => w.gateway.gateway.api.listQuestions().length === 1);
  w.say(42, "/stop");
  await w.shown("Stopped.");
  assertSound(await w.gateway.events("telegram:42"));
});

test("two questions of one answer are asked one after the other", async () => {
  await using w = await startWorld((request) =>
    resultsIn(request) === 0
      ? {
          toolCalls: [
            { id: "a", name: "ask_human", input: { question: "First?", options: ["A", "B"] } },
            { id: "b", name: "ask_human", input: { question: "Second?", options: ["C", "D"] } },
          ],
        }
      : { text: "both known" },
  );
  w.say(42, "ask me twice");
  await w.shown("First?");
  assert.equal(w.telegram.sent.length, 1);
  w.say(42, "2");
  await w.shown("Second?");
  w.say(42, "1");
  await w.shown("both known");
  assert.deepEqual(
    answeredIn(await w.gateway.events("telegram:42")).map(({ answer }) => answer),
    ["B", "C"],
  );
});

const impatient = { policy: { answerSeconds: 1 } };

for (const [what, input, expected, told] of [
  ["the default", { ...drinks, default: "Water" }, /this was taken: Water/, /so I took “Water”/],
  ["the recommended option", drinks, /this was taken: Tea/, /so I took “Tea”/],
  ["the first option", short, /this was taken: Yes/, /so I took “Yes”/],
  ["nothing where there is nothing to take", { question: "Name?" }, /by your own judgement/, /by my own judgement/],
] as const)
  test(`when nobody answers, ${what} is taken, and that is told; a late answer is refused with it`, async () => {
    await using w = await startWorld(callThenDone("ask_human", input), { config: impatient });
    w.say(42, "order something");
    const question = await w.shown(/\?/);
    const notice = await w.shown(/^No answer within a second/);
    assert.match(notice.text, told);
    await w.shown(/^done/);
    assert.match(lastResult(w.model.requests.at(-1)), expected);
    if (question.buttons !== undefined) {
      w.press(question, question.buttons[0]?.[0]?.text ?? "", 42);
      assert.match((await w.toasts(1))[0]?.text ?? "", /nobody had answered in time.*so I took/);
    }
    await settled(w);
    const events = await w.gateway.events("telegram:42");
    assertSound(events);
    assert.equal(answeredIn(events)[0]?.outcome, "timeout");
    await until("the question says so", () => w.telegram.edited.length === 1);
    assert.match(w.telegram.edited[0]?.text ?? "", /✗ no answer in time/);
  });

test("who waits for a person leaves the place to others: 70 open questions hold up no other chat", async () => {
  await using w = await startWorld((request) =>
    request.userText.includes("hello") ? { text: "hi" } : callThenDone("ask_human", short)(request),
  );
  const { gateway } = w;
  const keys = Array.from({ length: 70 }, (_, n) => `webui:q${n}`);
  await Promise.all(keys.map((key) => gateway.post("ask", { key })));
  await until("all are asked", () => gateway.gateway.api.listQuestions().length === 70, 15_000);
  assert.equal((await gateway.ask("hello", { key: "webui:other" })).response, "hi");
  for (const { sessionKey, requestId } of gateway.gateway.api.listQuestions())
    assert.deepEqual(await gateway.gateway.api.answerQuestion({ sessionKey, requestId, answer: "2" }), {
      answer: "No",
    });
  for (const key of keys) {
    await gateway.waitForEvent((event) => event.type === "turn_execution_complete", key);
  }
});

test("a stop withdraws the question, and the page's answer comes too late", async () => {
  await using w = await startWorld(callThenDone("ask_human", short));
  const message = await w.gateway.post("ask");
  await w.gateway.waitForEvent(isAsked);
  const [open] = w.gateway.gateway.api.listQuestions();
  assert.ok(open);
  await w.gateway.post("/stop");
  assert.equal((await w.gateway.outcome(message)).end, "cancelled");
  const answer = { sessionKey: open.sessionKey, requestId: open.requestId, answer: "Yes" };
  await assert.rejects(
    w.gateway.gateway.api.answerQuestion(answer),
    (error) => error instanceof RequestError && error.status === 409 && /closed/.test(error.message),
  );
  const events = await w.gateway.events();
  assertSound(events);
  assert.deepEqual(
    answeredIn(events).map(({ outcome }) => outcome),
    ["cancelled"],
  );
});

test("a client's cancel or next is not an answer, whatever it says", async () => {
  await using w = await startWorld((request) =>
    request.userText.includes("other")
      ? { text: "the other thing" }
      : callThenDone("ask_human", { question: "Name?" })(request),
  );
  const message = await w.gateway.post("ask");
  await w.gateway.waitForEvent(isAsked);
  const next = await w.gateway.post("the other one", { mode: "next" });
  assert.equal(w.gateway.gateway.api.listQuestions().length, 1);
  const changed = await w.gateway.post("something other", { mode: "cancel" });
  assert.equal((await w.gateway.outcome(message)).end, "cancelled");
  // It stops what waited before it as well.
  assert.equal((await w.gateway.outcome(next)).end, "cancelled");
  assert.equal((await w.gateway.outcome(changed)).response, "the other thing");
  assertSound(await w.gateway.events());
});

test("an answer that is none is refused with what could be answered", async () => {
  await using w = await startWorld(
    callThenDone("write_file", { path: join(tmpdir(), "maxclaw-nowhere"), content: "x" }),
    {
      config: { policy: { rules: [{ verdict: "ask" }] }, tools: { restrictToWorkspace: false } },
    },
  );
  await w.gateway.post("write");
  await w.gateway.waitForEvent(isAsked);
  const [open] = w.gateway.gateway.api.listQuestions();
  assert.ok(open);
  const { sessionKey, requestId } = open;
  const { api } = w.gateway.gateway;
  for (const answer of ["9", "", "perhaps"])
    await assert.rejects(api.answerQuestion({ sessionKey, requestId, answer }), /1 \(Allow once\), 2 \(Deny\)/);
  await assert.rejects(api.answerQuestion({ sessionKey: "webui:other", requestId, answer: "1" }), /another chat/);
  await assert.rejects(api.answerQuestion({ sessionKey, requestId: "ask_nothing", answer: "1" }), /no such question/);
  assert.deepEqual(await api.answerQuestion({ sessionKey, requestId, answer: "no" }), { answer: "Deny" });
});

const secret = "s3cr3t-value-of-the-weather";

test("a secret is given on the page, is in the secrets file only, and a chat gets a pointer there", async () => {
  await using w = await startWorld(
    callThenDone("ask_human", { question: "Key for the weather?", env: ["WEATHER_KEY"] }),
  );
  writeFileSync(join(w.home, "secrets.json"), JSON.stringify({ OTHER: "kept-value" }), { mode: 0o600 });
  w.say(42, "weather");
  const question = await w.shown("Key for the weather?");
  assert.match(question.text, /Secrets do not belong in a chat: give WEATHER_KEY on the web page/);
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["Go on without"],
  );
  w.say(42, secret);
  await until("the chat is pointed to the page", () => w.telegram.sent.length === 2);
  assert.match(w.telegram.sent[1]?.text ?? "", /Secrets do not belong in a chat/);
  const [open] = w.gateway.gateway.api.listQuestions();
  assert.ok(open);
  assert.deepEqual(open.fields, ["WEATHER_KEY"]);
  const { sessionKey, requestId } = open;
  const { api } = w.gateway.gateway;
  await assert.rejects(
    api.answerQuestion({ sessionKey, requestId, values: { WEATHER_KEY: "" } }),
    /missing for WEATHER_KEY/,
  );
  const values = { WEATHER_KEY: secret, PATH: "/evil" };
  assert.deepEqual(await api.answerQuestion({ sessionKey, requestId, values }), { answer: "WEATHER_KEY saved" });
  await w.shown(/done: The person answered: WEATHER_KEY saved/);
  await settled(w);
  const file = join(w.home, "secrets.json");
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { OTHER: "kept-value", WEATHER_KEY: secret });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await w.gateway.gateway.drain(0);
  const places = [join(w.home, "journal"), join(w.home, "workspace", ".sessions")].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  assert.ok(places.length > 1);
  for (const path of places) if (statSync(path).isFile()) assert.ok(!readFileSync(path, "utf8").includes(secret), path);
  for (const { bodyText } of w.model.requests) assert.ok(!bodyText.includes(secret));
  assert.ok(!JSON.stringify(w.gateway.log.lines).includes(secret));
});

test("a secrets file that cannot be read is left alone, and the question stays open", async () => {
  await using w = await startWorld(callThenDone("ask_human", { question: "Key?", env: ["A_KEY"] }));
  const file = join(w.home, "secrets.json");
  writeFileSync(file, '{"broken": ', { mode: 0o600 });
  await w.gateway.post("go");
  await w.gateway.waitForEvent(isAsked);
  const open = w.gateway.gateway.api.listQuestions()[0];
  assert.ok(open);
  const { sessionKey, requestId } = open;
  const { api } = w.gateway.gateway;
  await assert.rejects(api.answerQuestion({ sessionKey, requestId, values: { A_KEY: secret } }), /nothing was saved/);
  assert.equal(readFileSync(file, "utf8"), '{"broken": ');
  assert.equal(api.listQuestions().length, 1);
  assert.deepEqual(await api.answerQuestion({ sessionKey, requestId, answer: "skip" }), { answer: "Go on without" });
});

test("a stop of the process does not wait for a person; after the next start the answer goes on with the turn", async () => {
  await using w = await startWorld(callThenDone("ask_human", short));
  w.say(42, "ask");
  const question = await w.shown("Go on?");
  await settledOutbox(w);
  const startedAt = Date.now();
  w.gateway = await w.gateway.restart(undefined, 60_000);
  assert.ok(Date.now() - startedAt < 20_000);
  w.press(question, "Yes", 42);
  await w.shown("done: Yes");
  await settled(w);
  const events = await w.gateway.events("telegram:42");
  assertSound(events);
  assert.equal(askedIn(events).length, 1, "it was asked once");
  assert.equal(w.telegram.sent.length, 2);
  assert.equal(w.model.requests.length, 2);
  await assertAllAnswered(w);
});

async function settledOutbox({ gateway }: ChatWorld): Promise<void> {
  await until("the question is out", async () => (await gateway.gateway.api.status()).outboundWaiting === 0);
}
