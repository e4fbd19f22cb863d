import assert from "node:assert/strict";
import { test } from "node:test";
import type { Channel, Publish } from "../../../../src/channels/channel.js";
import { until } from "../../../support/engine/engine-kit.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import {
  answeredIn,
  type ChatWorld,
  callThenDone,
  isAsked,
  resultsIn,
  startWorld,
} from "../../../support/worlds/channels/chat-world.js";
import { openAIConfig, startGateway } from "../../../support/worlds/gateway.js";
import { postJson } from "../../../support/worlds/http/http-server.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";

const trains = { question: "Which train?", options: ["07:05", "08:32"] };
const key = "webui:desk";

/** Asks where the message wants that, and says hello to everything else. */
function asking(input: unknown, tool = "ask_human") {
  const ask = callThenDone(tool, input);
  return (request: RecordedRequest): ScriptedAnswer =>
    resultsIn(request) > 0 || request.userText.includes("please ask") ? ask(request) : { text: "You are welcome." };
}

/** The owner 1 has a chat on Telegram, and works at the page. */
async function openWorld(input: unknown, policy: object = { passOnSeconds: 1 }, tool?: string): Promise<ChatWorld> {
  const w = await startWorld(asking(input, tool), { config: { policy, owners: ["telegram:1", "telegram:2"] } });
  for (const person of [2, 42, 1]) {
    w.say(person, "hello");
    await until("it is answered", () => w.telegram.sent.some(({ chatId }) => chatId === String(person)), 10_000);
  }
  return w;
}

const askAt = async ({ gateway }: ChatWorld, sessionKey = key): Promise<{ id: string; requestId: string }> => {
  const id = await gateway.post("please ask", { key: sessionKey });
  const event = await gateway.waitForEvent(isAsked, sessionKey);
  return { id, requestId: event.type === "human_input_asked" ? event.payload.request_id : "" };
};

const questionsIn = ({ telegram }: ChatWorld) => telegram.sent.filter(({ text }) => text.includes("Which train?"));

test("a question of the page that nobody sees is asked in the owner's last chat, and a press there answers it", async () => {
  await using w = await openWorld(trains);
  const { id } = await askAt(w);
  const question = await w.shown("Which train?");
  assert.equal(question.chatId, "1", "the owner's own chat that was used last");
  assert.match(question.text, /^A question waits for you on the web page\./);
  assert.deepEqual(
    question.buttons?.flat().map(({ text }) => text),
    ["07:05", "08:32"],
  );
  w.press(question, "08:32", 42);
  assert.match((await w.toasts(1))[0]?.text ?? "", /Only|another chat/, "a guest cannot");
  w.press(question, "08:32", 1);
  assert.equal((await w.gateway.outcome(id, key)).response, "done: 08:32");
  assert.equal(answeredIn(await w.gateway.events(key))[0]?.responder_id, "telegram:1");
  await until("its buttons are gone", () =>
    w.telegram.edited.some(({ text }) => /Which train\?[\s\S]*✓ 08:32$/.test(text)),
  );
  assert.equal(questionsIn(w).length, 1, "nobody else is asked");
});

test("the first answer counts: one of the page is written below the question elsewhere, where it is too late then", async () => {
  await using w = await openWorld(trains);
  const { id, requestId } = await askAt(w);
  const question = await w.shown("Which train?");
  await w.gateway.gateway.api.answerQuestion({ sessionKey: key, requestId, answer: "1" });
  assert.equal((await w.gateway.outcome(id, key)).response, "done: 07:05");
  await until("it says so", () => w.telegram.edited.some(({ text }) => text.endsWith("✓ 07:05")));
  w.press(question, "08:32", 1);
  assert.match((await w.toasts(1))[0]?.text ?? "", /closed/);
});

test("it can be answered there by its number, and what is no answer belongs to the chat's own conversation", async () => {
  await using w = await openWorld(trains);
  const { id } = await askAt(w);
  await w.shown("Which train?");
  const before = w.telegram.sent.length;
  w.say(1, "what a day");
  await until("it is answered there", () => w.telegram.sent.length > before);
  assert.equal(w.telegram.sent.at(-1)?.text, "You are welcome.");
  w.say(1, "2");
  assert.equal((await w.gateway.outcome(id, key)).response, "done: 08:32");
});

test("it is passed on once, also over restarts, and its buttons work after them", async () => {
  await using w = await openWorld(trains, { passOnSeconds: 2 });
  const { id } = await askAt(w);
  w.gateway = await w.gateway.restart();
  const question = await w.shown("Which train?");
  w.gateway = await w.gateway.restart();
  await until("it is open again", () => w.gateway.gateway.api.listQuestions().length === 1);
  w.press(question, "07:05", 1);
  assert.equal((await w.gateway.outcome(id, key)).response, "done: 07:05");
  assert.equal(questionsIn(w).length, 1);
});

test("who looks at that chat or at the inbox sees it; once they have gone it is passed on", async () => {
  await using w = await openWorld(trains);
  const look = (at: string, looking: boolean) =>
    postJson(`http://${w.gateway.gateway.address}/api/presence`, { page: "desk", at, looking });
  await look(key, true);
  const seen = await askAt(w);
  await askAt(w, "webui:other");
  await w.shown("Which train?");
  const logOf = async (session: string) =>
    (await w.gateway.events(session)).filter(({ type }) => type === "outbound_delivery_changed").length;
  await until("the other one is", async () => (await logOf("webui:other")) > 0);
  assert.equal(await logOf(key), 0);
  await w.gateway.gateway.api.answerQuestion({ sessionKey: key, requestId: seen.requestId, answer: "1" });
});

test("what a guest is asked goes to nobody else", async () => {
  await using w = await openWorld(trains);
  w.say(42, "please ask");
  const asked = await w.shown("Which train?");
  assert.equal(asked.chatId, "42");
  await askAt(w);
  await until("the page's own is passed on", () => questionsIn(w).length === 2);
  assert.deepEqual(
    questionsIn(w).map(({ chatId }) => chatId),
    ["42", "1"],
  );
});

test("where a message cannot be changed, one line says how the question ended, unless it was answered there", async () => {
  await using model = await startFakeOpenAI({ answer: asking(trains) });
  const sent: string[] = [];
  let publish: Publish | undefined;
  const channel: Channel = {
    name: "post",
    async run(take, onConnected, signal) {
      publish = take;
      onConnected();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    split: (content) => [content],
    async send({ content }) {
      sent.push(content);
      return { platformMessageId: String(sent.length) };
    },
  };
  const say = async (content: string): Promise<void> => {
    const message = { chatId: "1", senderId: "1", content, attachments: [], files: [], addressed: true };
    await publish?.({ ...message, chatType: "dm" });
  };
  const config = openAIConfig(model.apiBase, { owners: ["post:1"], policy: { passOnSeconds: 1 } });
  await using gateway = await startGateway({ config, platforms: () => [channel] });
  await until("the channel runs", () => publish !== undefined);
  await say("hello");
  await until("the owner has a chat there", () => sent.length === 1);
  const ask = async (session: string): Promise<string> => {
    await gateway.post("please ask", { key: session });
    const { payload } = await gateway.waitForEvent(isAsked, session);
    return "request_id" in payload ? payload.request_id : "";
  };
  const requestId = await ask(key);
  await until("it is passed on", () => sent.length === 2);
  assert.match(sent[1] ?? "", /Which train\?/);
  await gateway.gateway.api.answerQuestion({ sessionKey: key, requestId, answer: "1" });
  await until("its end is told", () => sent.length === 3);
  assert.equal(sent[2], "This question is closed: Which train?\n\n✓ 07:05");

  await ask("webui:other");
  await until("the next one is passed on", () => sent.length === 4);
  await say("2");
  await gateway.waitForEvent(({ type }) => type === "human_input_answered", "webui:other");
  await say("thanks");
  await until("only that is answered", () => sent.length === 5);
  assert.equal(sent[4], "You are welcome.");
});
