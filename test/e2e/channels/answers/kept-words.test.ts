import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../../support/fakes/fake-telegram.js";
import { startFakeOpenAI } from "../../../support/fakes/models/fake-openai.js";
import { type ChatWorld, startWorld as startChatWorld } from "../../../support/worlds/channels/chat-world.js";
import { ann, openDiscordWorld } from "../../../support/worlds/channels/discord-world.js";
import { startDaemon } from "../../../support/worlds/daemon.js";
import { openAIConfig, startGateway, tempHome } from "../../../support/worlds/gateway.js";
import type { AnswerScript, ScriptedAnswer } from "../../../support/worlds/model-script.js";
import { hangingTool } from "../../../support/worlds/tools/hanging-tool.js";

const live = { reactors: { live: true } };
const half: ScriptedAnswer = { text: ["Half of ", "it"], hang: "middle" };

const startWorld = (answer: AnswerScript) => startChatWorld(answer, { config: live });

/** The newest form of each message. */
function now({ sent, edited }: FakeTelegram): readonly string[] {
  return sent.map((one) => edited.findLast(({ messageId }) => messageId === one.messageId)?.text ?? one.text);
}

const shows = (telegram: FakeTelegram, expected: readonly RegExp[]) =>
  until(
    `it shows ${expected.join(" | ")}`,
    () => now(telegram).length === expected.length && expected.every((one, n) => one.test(now(telegram)[n] ?? "")),
    15_000,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it shows ${JSON.stringify(now(telegram))}`, { cause: error });
  });

/** What the model is told at the next message that was said before. */
async function heardBy(w: ChatWorld): Promise<string> {
  const before = w.model.requests.length;
  w.say(42, "and now?");
  await until("the model is asked", () => w.model.requests.length > before, 10_000);
  return w.model.requests.at(-1)?.bodyText ?? "";
}

const inTurn = (answers: ScriptedAnswer[]) => () => answers.shift() ?? { text: "?" };

test("/stop keeps the words that people are reading, adds its own, and the model knows what was said", async () => {
  await using w = await startWorld(inTurn([half]));
  w.say(42, "go");
  await shows(w.telegram, [/^Half of it$/]);
  w.say(42, "/stop");
  await shows(w.telegram, [/^Half of it\n\nStopped\.$/]);
  assert.match(await heardBy(w), /Half of it/);
});

test("a model that dies in mid-answer leaves its words standing, with what has happened below", async () => {
  const dying: ScriptedAnswer = {
    text: ["Half of ", "it ", "and more"],
    chunkDelayMs: 500,
    streamError: { type: "invalid_request_error", message: "no" },
  };
  await using w = await startWorld(inTurn([dying, dying, dying]));
  w.say(42, "go");
  await shows(w.telegram, [/^Half of it and more\n\n.+\(turn_\w+\)$/]);
  assert.match(await heardBy(w), /Half of it and more/);
});

test("words of a try that failed stay when the next one has not a word, and the model knows them", async () => {
  const dying: ScriptedAnswer = { text: ["Half of ", "it", ""], chunkDelayMs: 700, cutAfter: 3 };
  const refusing: ScriptedAnswer = { status: 400, body: { error: { message: "no" } } };
  await using w = await startWorld(inTurn([dying, refusing]));
  w.say(42, "go");
  await shows(w.telegram, [/^Half of (it)?\n\n.+\(turn_\w+\)$/]);
  assert.match(await heardBy(w), /Half of/);
});

test("a code block that is cut off is closed before the notice", async () => {
  await using w = await startWorld(inTurn([{ text: ["```js\nlet a", " = 1;"], hang: "middle" }]));
  w.say(42, "go");
  await until("it is shown", () => w.telegram.sent.length === 1, 10_000);
  w.say(42, "/stop");
  await until("it is stopped", () => /Stopped/.test(now(w.telegram)[0] ?? ""), 10_000);
  assert.match(w.telegram.edited.at(-1)?.raw ?? "", /<\/code><\/pre>\s*Stopped\.$/);
});

test("what was said before a tool stays when the tool is stopped", async () => {
  let isRunning = false;
  const slow = hangingTool("read", () => {
    isRunning = true;
  });
  const say: ScriptedAnswer = {
    text: ["I look ", "it up."],
    chunkDelayMs: 500,
    toolCalls: [{ id: "call_1", name: "slow", input: {} }],
  };
  await using w = await startChatWorld(inTurn([say]), { config: live, tools: [slow] });
  w.say(42, "go");
  await until("the tool runs", () => isRunning, 10_000);
  await until("the words are shown", () => w.telegram.sent.length === 1, 10_000);
  w.say(42, "/stop");
  await shows(w.telegram, [/^I look it up\.\n\nStopped\.$/]);
});

test("on Discord the words stay as well", async () => {
  await using w = await openDiscordWorld(() => half, live);
  await using _gateway = await startGateway({ home: w.home });
  await w.online();
  const dm = w.discord.dmOf(ann.id);
  w.discord.write({ channelId: dm, author: ann, content: "go" });
  await w.shown(dm, "Half of it");
  w.discord.write({ channelId: dm, author: ann, content: "/stop" });
  await w.shown(dm, "Stopped.");
  assert.deepEqual(w.said(dm), ["Half of it\n\nStopped."]);
});

test("after a kill in mid-answer what is there stays, and one notice comes below it", async () => {
  let answer: ScriptedAnswer = half;
  await using model = await startFakeOpenAI({ answer: () => answer });
  await using telegram = await startFakeTelegram({ token: "4242:kills" });
  const home = await tempHome();
  const channels = { telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] } };
  await writeFile(join(home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, { channels, ...live })));
  await using daemon = await startDaemon({ home });
  telegram.pushText({ chatId: 42, userId: 42, text: "go" });
  await until("it is shown", () => telegram.sent.length === 1, 10_000);
  await daemon.end("SIGKILL");
  answer = { status: 400 };
  await using _next = await startDaemon({ home });
  await shows(telegram, [/^Half of( it)?$/, /did not accept the request/]);
});
