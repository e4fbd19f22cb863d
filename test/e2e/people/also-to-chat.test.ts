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
