import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineTool } from "../../../../src/tools/tool.js";
import { until } from "../../../support/engine/engine-kit.js";
import type { FakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startWorld as startOtherWorld } from "../../../support/worlds/channels/chat-world.js";
import type { RecordedRequest, ScriptedAnswer } from "../../../support/worlds/model-script.js";
import { cast, startOne } from "../../../support/worlds/tools/sub-agents.js";

const growing: ScriptedAnswer = { text: ["One, ", "two, ", "three, ", "four."], chunkDelayMs: 450 };

type WorldOptions = Parameters<typeof startOtherWorld>[1];

function startWorld(answer: Parameters<typeof startOtherWorld>[0], options: WorldOptions = {}) {
  return startOtherWorld(answer, { ...options, config: { reactors: { live: true }, ...options.config } });
}

/** The newest form of each message. */
function now({ sent, edited }: FakeTelegram): readonly string[] {
  return sent.map((one) => edited.findLast(({ messageId }) => messageId === one.messageId)?.text ?? one.text);
}

const shows = (telegram: FakeTelegram, texts: readonly string[]) =>
  until(`it shows ${texts.join(" | ")}`, () => JSON.stringify(now(telegram)) === JSON.stringify(texts), 15_000).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}; it shows ${JSON.stringify(now(telegram))}`, { cause: error });
    },
  );

test("an answer grows in one message, each time by what came meanwhile, and ends as the whole text", async () => {
  await using w = await startWorld({ ...growing, chunkDelayMs: 900 });
  w.say(42, "count");
  await shows(w.telegram, ["One, two, three, four."]);
  const texts = [...w.telegram.sent, ...w.telegram.edited].map(({ text }) => text);
  assert.ok(texts.length >= 3, texts.join(" | "));
  for (const [index, text] of texts.entries()) {
    assert.ok("One, two, three, four.".startsWith(text.trim()), text);
    assert.ok(index === 0 || text !== texts[index - 1], "nothing is shown twice");
  }
  await until("all is sent", async () => {
    const { inboundWaiting, outboundWaiting } = await w.gateway.gateway.api.status();
    return inboundWaiting + outboundWaiting === 0;
  });
  const events = await w.gateway.events("telegram:42");
  const sent = events.find(({ type, payload }) => type === "outbound_delivery_changed" && payload.status === "sent");
  assert.equal(
    sent?.type === "outbound_delivery_changed" ? sent.payload.platform_message_id : "",
    String(w.telegram.sent[0]?.messageId),
  );
});

test("after a restart in the middle of an answer the same message goes on and is ended", async () => {
  const answers: ScriptedAnswer[] = [{ text: ["Half of ", "it"], hang: "middle" }, { text: "All of it." }];
  await using w = await startWorld(() => answers.shift() ?? { text: "?" });
  w.say(42, "go");
  await until("half of it is shown", () => w.telegram.sent.length === 1, 10_000);
  w.gateway = await w.gateway.restart();
  await shows(w.telegram, ["All of it."]);
});

test("a stop waits for the first words that are on their way, so that the same message goes on after it", async () => {
  const answers: ScriptedAnswer[] = [{ text: ["Half of ", "it"], hang: "middle" }, { text: "All of it." }];
  await using w = await startWorld(() => answers.shift() ?? { text: "?" });
  w.telegram.answerNextLate({ method: "sendMessage", ms: 500 });
  w.say(42, "go");
  await until("half of it is shown", () => w.telegram.sent.length === 1, 10_000);
  w.gateway = await w.gateway.restart(undefined, 0);
  await shows(w.telegram, ["All of it."]);
});

test("first words of which nobody knows whether they are there are not shown again before the answer is whole", async () => {
  const words = Array.from({ length: 8 }, (_, n) => `word${n} `);
  await using w = await startWorld({ text: words, chunkDelayMs: 400 });
  w.telegram.cutNext({ method: "sendMessage", when: "after" });
  w.say(42, "count");
  await until("the whole is sent", () => w.telegram.sent.length === 2, 15_000);
  assert.equal(w.telegram.sent[1]?.text, words.join("").trim());
});

test("a limit that Telegram names while answers grow costs edits and no answer, keeps their order, and touches no other chat", async () => {
  await using w = await startWorld((request) => ({
    text: ["a", "b", "c"].map((part) => `${request.userText.trim().at(-1)}${part} `),
    chunkDelayMs: 450,
  }));
  for (const method of ["editMessageText", "sendMessage"])
    w.telegram.failNext({ method, chatId: "42", status: 429, retryAfter: 1 });
  for (const text of ["1", "2"]) w.say(42, text);
  w.say(43, "3");
  const of = (chatId: string) => now(w.telegram).filter((_, index) => w.telegram.sent[index]?.chatId === chatId);
  await until("the other chat has its answer", () => of("43").join() === "3a 3b 3c", 15_000);
  await until("all is said in order", () => of("42").join("|") === "1a 1b 1c|2a 2b 2c", 30_000);
});

test("the words of a sub-agent are not shown while they grow", async () => {
  await using w = await startWorld(
    cast({
      parent: (_, done) => (done === 0 ? startOne("Count.") : { text: "I have asked a helper." }),
      child: () => ({ text: ["the answer ", "is ", "42"], chunkDelayMs: 450 }),
      told: () => ({ text: "My helper is done." }),
    }),
  );
  w.say(42, "go");
  await shows(w.telegram, ["I have asked a helper.", "My helper is done."]);
});

test("a platform that asks for slower edits gets them, and the whole text in the end", async () => {
  await using w = await startWorld(growing);
  w.telegram.failNext({ method: "editMessageText", status: 429, retryAfter: 1, times: 2 });
  w.say(42, "count");
  await shows(w.telegram, ["One, two, three, four."]);
});

test("a message that somebody has removed meanwhile is sent again, whole", async () => {
  await using w = await startWorld(growing);
  w.telegram.failNext({
    method: "editMessageText",
    status: 400,
    description: "Bad Request: message to edit not found",
    times: 20,
  });
  w.say(42, "count");
  await until("the whole is sent", () => w.telegram.sent.at(-1)?.text === "One, two, three, four.", 15_000);
  assert.equal(w.telegram.sent.length, 2);
});

const show = defineTool({
  name: "show",
  description: "Shows a text.",
  input: z.object({}),
  effect: "write",
  risk: "none",
  origin: "builtin",
  run: async (_input, { chat }) => ({
    text: String(await chat.send({ content: "In between.", attachments: [] })),
    isError: false,
    summary: "shown",
  }),
});

test("what a turn shows in between is below what was said before it, and the answer below that", async () => {
  const answer = (request: RecordedRequest): ScriptedAnswer =>
    request.index === 0
      ? { text: ["Let me ", "look."], chunkDelayMs: 450, toolCalls: [{ id: "c1", name: "show", input: {} }] }
      : { text: ["Here ", "it ", "is."], chunkDelayMs: 300 };
  await using w = await startWorld(answer, { tools: [show] });
  w.say(42, "go");
  await until("the answer is there", () => now(w.telegram).at(-1) === "Here it is.", 15_000);
  const texts = now(w.telegram);
  assert.equal(texts.length, 3, texts.join(" | "));
  assert.ok("Let me look.".startsWith(texts[0] ?? "?"));
  assert.deepEqual(texts.slice(1), ["In between.", "Here it is."]);
});

test("switched off, an answer is one message and no edit", async () => {
  await using w = await startWorld(growing, { config: { reactors: { live: false } } });
  w.say(42, "count");
  await shows(w.telegram, ["One, two, three, four."]);
  assert.equal(w.telegram.edited.length, 0);
});
