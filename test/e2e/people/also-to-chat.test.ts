import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "../../../src/errors.js";
import { until } from "../../support/engine/engine-kit.js";
import { type ChatWorld, callThenDone, startWorld } from "../../support/worlds/channels/chat-world.js";

const sessionKey = "telegram:42";

function textsTo({ telegram }: ChatWorld, chatId: string): readonly string[] {
  return telegram.sent.filter((one) => one.chatId === chatId).map(({ text }) => text);
}

test("an answer that is wanted in the chat too comes there once, below what was asked, also over a restart", async () => {
  await using w = await startWorld(({ userText }) => ({ text: `heard ${userText.split("\n\n").at(-1)}` }));
  w.say(42, "hi");
  await w.shown("heard hi");
  const { api } = w.gateway.gateway;
  await api.send({ sessionKey, content: "here alone", messageId: "msg_aloneone" });
  await api.waitForTurn(sessionKey, "msg_aloneone", new AbortController().signal);
  const both = { sessionKey, content: "two\nlines", messageId: "msg_bothboth", alsoToChat: true };
  await api.send(both);
  await w.shown("heard two");
  w.gateway = await w.gateway.restart();
  assert.equal((await w.gateway.gateway.api.send(both)).status, "duplicate");
  w.say(42, "bye");
  await w.shown("heard bye");
  assert.deepEqual(textsTo(w, "42"), ["heard hi", "two\nlines\n\nheard two\nlines", "heard bye"]);
});

test("what is asked about it is asked on the page, and only what comes of it is sent", async () => {
  await using w = await startWorld(callThenDone("ask_human", { question: "Which one?", options: ["red", "blue"] }));
  const { api } = w.gateway.gateway;
  await api.send({ sessionKey, content: "paint it", messageId: "msg_paintone", alsoToChat: true });
  await until("it is asked", () => api.listQuestions().length === 1);
  const [asked] = api.listQuestions();
  assert.ok(asked);
  await api.answerQuestion({ sessionKey, requestId: asked.requestId, answer: "red" });
  await w.shown(/paint it\n\ndone/);
  assert.equal(textsTo(w, "42").length, 1);
});

test("what a command answers is for who typed it: with alsoToChat it is refused", async () => {
  await using w = await startWorld(() => ({ text: "never" }));
  const { api } = w.gateway.gateway;
  await assert.rejects(api.send({ sessionKey, content: " /usage", alsoToChat: true }), /not sent to a chat/);
  assert.deepEqual(textsTo(w, "42"), []);
});

test("where there is no chat on a channel that is on, it is refused", async () => {
  await using w = await startWorld(() => ({ text: "never" }));
  for (const key of ["webui:one", "discord:7", "cron:one", "telegram:42:spawn:task_1"])
    await assert.rejects(
      w.gateway.gateway.api.send({ sessionKey: key, content: "hi", alsoToChat: true }),
      (error) =>
        error instanceof RequestError &&
        error.status === 400 &&
        /the answer can be sent nowhere else/.test(error.message),
      key,
    );
  assert.equal(w.model.requests.length, 0);
});

test("that it failed is said there for who reads there, and tried again it comes below what was asked", async () => {
  const refusal = { status: 401, body: { error: { message: "no such key" } } };
  await using w = await startWorld(({ index }) =>
    index === 0 ? { text: "hi" } : index < 4 ? refusal : { text: "Blue." },
  );
  const { api } = w.gateway.gateway;
  w.say(42, "hello");
  await w.shown("hi");
  await api.send({ sessionKey, content: "which colour?", messageId: "msg_colour01", alsoToChat: true });
  const first = await w.shown("which colour?");
  assert.match(first.text, /The owner needs to check/);
  const copy = await api.forkSession(sessionKey, undefined);
  const retry = async (key: string): Promise<void> => {
    const failed = (await w.gateway.events(key)).findLast(({ type }) => type === "turn_execution_failed");
    const { messageId } = await api.retryTurn({ sessionKey: key, turnId: failed?.turn_id ?? "" });
    await api.waitForTurn(key, messageId, new AbortController().signal);
  };
  await retry(copy.key);
  const inCopy = await w.gateway.events(copy.key);
  const forked = inCopy.findIndex(
    ({ type, payload }) => type === "session_history_changed" && "forked_from" in payload,
  );
  assert.ok(forked > 0);
  assert.ok(!inCopy.slice(forked).some(({ type }) => type === "outbound_delivery_changed"));
  await retry(sessionKey);
  await until("the second failure is told", () => textsTo(w, "42").length === 3);
  await retry(sessionKey);
  await w.shown("Blue.");
  assert.equal(textsTo(w, "42").at(-1), "which colour?\n\nBlue.");
});
