import assert from "node:assert/strict";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { StoredEvent } from "../../../src/events/event.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import {
  assertSound,
  openAIConfig,
  startGateway,
  startWithModel,
  type TestGateway,
} from "../../support/worlds/gateway.js";
import type {
  AnswerScript,
  FakeModelServer,
  RecordedRequest,
  ScriptedAnswer,
} from "../../support/worlds/model-script.js";

const token = "4242:e2e-secret";

/** What the person wrote, without what the gateway puts around it. */
function wordOf(request: RecordedRequest): string {
  return /say (\w+)/.exec(request.userText)?.[1] ?? request.userText;
}

/** A model that says back the word it was asked to say. */
const echo = (request: RecordedRequest): ScriptedAnswer => ({ text: `You said ${wordOf(request)}.` });

interface Setup extends AsyncDisposable {
  readonly telegram: FakeTelegram;
  readonly model: FakeModelServer;
  gateway: TestGateway;
  /** A text in a direct chat. */
  say(chatId: number, text: string): void;
  texts(chatId?: number): readonly string[];
  configure(more: Record<string, unknown>): Promise<void>;
}

async function start(
  more: { readonly answer?: AnswerScript; readonly allowFrom?: readonly string[]; readonly latencyMs?: number } = {},
): Promise<Setup> {
  const { answer = echo, allowFrom = ["*"], latencyMs = 0 } = more;
  const telegram = await startFakeTelegram({ token, latencyMs });
  const configOf = (channel: Record<string, unknown>) => ({
    inbound: { senderPerMinute: 0, chatPerMinute: 0 },
    channels: { telegram: { enabled: true, token, apiRoot: telegram.url, allowFrom, ...channel } },
  });
  const scripted = await startWithModel(answer, configOf({}));
  const { model, gateway } = scripted;
  const setup: Setup = {
    telegram,
    model,
    gateway,
    say: (chatId, text) => void telegram.pushText({ chatId, userId: chatId, text }),
    texts: (chatId) =>
      telegram.sent.filter((one) => chatId === undefined || one.chatId === String(chatId)).map(({ text }) => text),
    configure: (channel) =>
      writeFile(join(gateway.home, "config.json"), JSON.stringify(openAIConfig(model.apiBase, configOf(channel)))),
    async [Symbol.asyncDispose]() {
      await setup.gateway[Symbol.asyncDispose]();
      await scripted[Symbol.asyncDispose]();
      await telegram.stop();
    },
  };
  return setup;
}

async function channelOf(gateway: TestGateway) {
  const [channel] = (await gateway.gateway.api.status()).channels;
  return channel ?? { name: "", state: "off" as const };
}

const isConnected = (gateway: TestGateway) => async () => (await channelOf(gateway)).state === "connected";

function deliveries(events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap(({ type, payload }) =>
    type === "outbound_delivery_changed"
      ? [`${payload.status}${payload.maybe_duplicate === true ? " maybe twice" : ""}`]
      : [],
  );
}

async function assertNothingLost({ gateway }: TestGateway): Promise<void> {
  const ends = (await gateway.api.ledger()).map(({ end }) => end);
  assert.ok(ends.length > 0 && ends.every((end) => end === "answered"), ends.join(", "));
}

// Taking messages

test("a message is answered in its chat, and only then is nothing left of it anywhere", async () => {
  await using t = await start();
  t.say(42, "say hello");
  await t.telegram.waitForSent(1);
  assert.deepEqual(t.texts(42), ["You said hello."]);
  await until("it is confirmed", () => t.telegram.pending === 0);
  await until("the outbox is empty", async () => (await t.gateway.gateway.api.status()).outboundWaiting === 0);
  const events = await t.gateway.events("telegram:42");
  assertSound(events);
  assert.deepEqual(deliveries(events), ["queued", "sending", "sent"]);
  await assertNothingLost(t.gateway);
});

test("an update that cannot be stored waits and its sender is told, others are answered meanwhile, and each once after a restart", async () => {
  await using t = await start();
  await until("it is connected", isConnected(t.gateway));
  // A session whose log cannot be opened.
  const broken = join(t.gateway.workspace, ".sessions", "telegram_42.events.jsonl");
  await mkdir(broken, { recursive: true });
  const first = t.telegram.pushText({ chatId: 42, userId: 42, text: "say one" });
  t.say(43, "say two");
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(43), ["You said two."]);
  const [told = ""] = t.texts(42);
  assert.match(told, /^I cannot read my disk right now\. Your message waits/);
  await t.gateway.gateway.drain(1000);
  await rmdir(broken);
  t.gateway = await t.gateway.restart();
  await t.telegram.waitForSent(3);
  await t.telegram.waitForConfirmed(first.updateId + 2);
  t.say(43, "say three");
  await t.telegram.waitForSent(4);
  assert.deepEqual(t.texts(42), [told, "You said one."]);
  assert.deepEqual(t.texts(43), ["You said two.", "You said three."]);
  await assertNothingLost(t.gateway);
});

test("a chat with many messages behind a turn holds up no other, nor the offset, and each of them is answered in the end", async () => {
  const hold = gate();
  await using t = await start({
    answer: async (request) => {
      if (/say w\d/.test(request.userText)) await hold.opened;
      return echo(request);
    },
  });
  const count = 104;
  const full = Array.from({ length: count }, (_, n) =>
    t.telegram.pushText({ chatId: 42, userId: 42, text: `say w${n}` }),
  );
  const last = full.at(-1)?.updateId ?? 0;
  await t.telegram.waitForConfirmed(last + 1, 15_000);
  t.say(43, "say free");
  await t.telegram.waitForSent(1);
  assert.deepEqual(t.texts(), ["You said free."]);
  hold.open();
  await t.telegram.waitForSent(2);
  await until("all is done", async () => (await t.gateway.gateway.api.status()).inboundWaiting === 0, 15_000);
  assert.equal((await t.gateway.gateway.api.ledger()).length, count + 1);
  await assertNothingLost(t.gateway);
  const queued = (await t.gateway.events("telegram:42")).flatMap(({ type, payload }) =>
    type === "user_message_queued" ? payload.content : [],
  );
  assert.deepEqual(
    queued,
    full.map((_, n) => ({ type: "text", text: `say w${n}` })),
  );
});

test("another program that polls with the token is named in status, and the gateway goes on when it is gone", async () => {
  await using t = await start();
  await until("it is connected", isConnected(t.gateway));
  t.telegram.failNext({ method: "getUpdates", status: 409 });
  t.say(42, "say hello");
  await until("it is said", async () => (await channelOf(t.gateway)).state === "reconnecting");
  assert.match((await channelOf(t.gateway)).reason ?? "", /Another program polls Telegram with the same bot token/);
  await t.telegram.waitForSent(1);
  t.say(42, "say again");
  await t.telegram.waitForSent(2);
  assert.equal((await channelOf(t.gateway)).state, "connected");
  assert.ok(t.gateway.log.lines.some(({ level, message }) => level === "warn" && /Another program/.test(message)));
});

test("a connection that breaks while receiving loses nothing and answers nothing twice", async () => {
  await using t = await start();
  await until("it is connected", isConnected(t.gateway));
  t.telegram.cutNext({ method: "getUpdates", when: "after" });
  t.telegram.failNext({ method: "getMe", status: 502, body: "<h1>Bad gateway</h1>" });
  t.say(42, "say one");
  t.say(43, "say two");
  await t.telegram.waitForSent(2, 10_000);
  await until("it is connected again", isConnected(t.gateway));
  t.say(42, "say three");
  await t.telegram.waitForSent(3);
  assert.deepEqual([...t.texts()].sort(), ["You said one.", "You said three.", "You said two."]);
  assert.doesNotMatch(JSON.stringify(t.gateway.log.lines), /e2e-secret/);
});

test("a file that Telegram does not give is told to both, and the chat goes on", async () => {
  await using t = await start({
    answer: (request) => ({ text: /\[the file [^\]]*\]/.exec(request.userText)?.[0] ?? "ok" }),
  });
  t.telegram.pushMessage({ photo: [{ file_id: "gone", width: 1, height: 1 }], caption: "look" });
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(42).toSorted(), [
    "I could not fetch photo.jpg. Please send it again.",
    "[the file photo.jpg did not come: it could not be fetched; its sender was told]",
  ]);
  t.say(42, "next");
  await t.telegram.waitForSent(3);
});

test("who answers an earlier file gets an answer about that file", async () => {
  await using t = await start({
    answer: (request) => ({ text: request.userText.match(/<in_reply_to.*/)?.[0] ?? "?" }),
  });
  const document = { file_id: t.telegram.keepFile(Buffer.from("row 1")), file_name: "rows.csv", mime_type: "text/csv" };
  const original = { message_id: 1, date: 0, from: { id: 42, is_bot: false, first_name: "Ada" }, document };
  t.telegram.pushMessage({ text: "summarise this", reply_to_message: original });
  await t.telegram.waitForSent(1);
  const [request] = t.model.requests;
  const [, path = ""] = /<file name="rows\.csv" type="text\/csv" path="([^"]+)"/.exec(request?.userText ?? "") ?? [];
  assert.equal(await readFile(path, "utf8"), "row 1");
  assert.match(
    request?.userText ?? "",
    /<in_reply_to from="the sender">\[rows\.csv\]<\/in_reply_to>\n\nsummarise this$/,
  );
});

test("an album is one message with all its files, and what follows it comes after it", async () => {
  await using t = await start({
    answer: (request) => ({ text: String(request.userText.match(/<file /g)?.length ?? 0) }),
  });
  const part = (name: string, more: object = {}) =>
    t.telegram.pushMessage({
      media_group_id: "77",
      document: { file_id: t.telegram.keepFile(Buffer.from(name)), file_name: name },
      ...more,
    });
  part("a.txt", { caption: "three of them" });
  part("b.txt");
  await until("the first two are polled", () => t.telegram.calls("getUpdates") > 1);
  part("c.txt");
  t.say(42, "after");
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(42), ["3", "0"]);
  assert.match(t.model.requests[0]?.userText ?? "", /three of them$/);
  await until("all is confirmed", () => t.telegram.pending === 0);
});

test("who sends stickers is told once that they cannot be read, and no model is asked", async () => {
  await using t = await start();
  t.telegram.pushMessage({ sticker: { file_id: "s", emoji: "👍" } });
  t.telegram.pushMessage({ sticker: { file_id: "s", emoji: "👎" } });
  t.say(42, "say hello");
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(42).toSorted(), ["I cannot read stickers. Please tell me in words.", "You said hello."]);
  assert.equal(t.model.requests.length, 1);
});

// Who may talk

test("a stranger gets a code once, and is answered after an owner has approved it", async () => {
  await using t = await start({ allowFrom: [] });
  t.say(42, "say hello");
  await t.telegram.waitForSent(1);
  const code = /maxclaw pair approve (\w+)/.exec(t.texts(42)[0] ?? "")?.[1] ?? "";
  assert.notEqual(code, "");
  t.say(42, "say hello?");
  await until("it is refused", () => t.telegram.pending === 0 && t.telegram.confirmedOffset === 1002);
  assert.equal(t.model.requests.length, 0);
  const paired = await t.gateway.gateway.api.approvePairing(code.toLowerCase());
  assert.deepEqual([paired.channel, paired.senderId], ["telegram", "42"]);
  t.say(42, "say thanks");
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(42).slice(1), ["You said thanks."]);
  t.gateway = await t.gateway.restart();
  t.say(42, "say again");
  await t.telegram.waitForSent(3);
  assert.equal(t.texts(42).at(-1), "You said again.");
  await t.gateway.gateway.api.revokePairing("telegram", "42");
  t.say(42, "say more");
  await t.telegram.waitForSent(4);
  assert.match(t.texts(42).at(-1) ?? "", /I do not know you yet/);
});

test("a group never pairs, also not for a person who is paired", async () => {
  await using t = await start({ allowFrom: [] });
  t.say(42, "hi");
  await t.telegram.waitForSent(1);
  await t.gateway.gateway.api.approvePairing(/approve (\w+)/.exec(t.texts()[0] ?? "")?.[1] ?? "");
  const mention = { entities: [{ type: "mention", offset: 0, length: 17 }], text: "@maxclaw_test_bot say hi" };
  t.telegram.pushText({ chatId: -5, userId: 42, ...mention });
  t.telegram.pushText({ chatId: -5, userId: 7, ...mention });
  t.say(42, "say direct");
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(-5), []);
  assert.deepEqual(t.texts(42).slice(1), ["You said direct."]);
  assert.deepEqual(t.gateway.gateway.api.listPairings().waiting, []);
});

test("a list of ids is the whole list: others get neither an answer nor a code", async () => {
  await using t = await start({ allowFrom: ["42"] });
  t.say(43, "say no");
  t.telegram.pushText({ chatId: 44, userId: 44, text: "say no", name: "42" });
  t.say(42, "say yes");
  await t.telegram.waitForSent(1);
  await until("all are confirmed", () => t.telegram.pending === 0);
  assert.deepEqual(t.texts(), ["You said yes."]);
  assert.equal(t.model.requests.length, 1);
});

test("a group is answered when the bot is named or replied to, in its topic, and topics are sessions of their own", async () => {
  await using t = await start();
  const named = (text: string, thread?: number) =>
    t.telegram.pushText({
      chatId: -5,
      userId: 42,
      text: `@maxclaw_test_bot ${text}`,
      entities: [{ type: "mention", offset: 0, length: 17 }],
      ...(thread === undefined ? {} : { thread }),
    });
  t.telegram.pushText({ chatId: -5, userId: 42, text: "say nothing" });
  const first = named("say main");
  await t.telegram.waitForSent(1);
  named("say topic", 9);
  await t.telegram.waitForSent(2);
  const own = { messageId: t.telegram.sent[0]?.messageId ?? 0, fromBot: true };
  t.telegram.pushText({ chatId: -5, userId: 43, text: "say reply", replyTo: own });
  t.telegram.pushText({ chatId: -5, userId: 43, text: "say other", replyTo: { messageId: 1, fromBot: false } });
  await t.telegram.waitForSent(3);
  await until("all are confirmed", () => t.telegram.pending === 0);
  assert.deepEqual(
    t.telegram.sent.map(({ text, thread }) => [text, thread]),
    [
      ["You said main.", undefined],
      ["You said topic.", "9"],
      ["You said reply.", undefined],
    ],
  );
  assert.equal(t.telegram.sent[0]?.replyTo, String(first.messageId));
  const { sessions } = await t.gateway.gateway.api.listSessions({ channel: "telegram", limit: 10, offset: 0 });
  assert.deepEqual(sessions.map(({ key }) => key).sort(), ["telegram:-5", "telegram:-5:9"]);
  assert.equal(t.model.requests.length, 3);
  const bodies = t.model.requests.map(({ bodyText }) => bodyText);
  assert.ok(!bodies[1]?.includes("say main"), "a topic knows nothing of the others");
  assert.ok(bodies[2]?.includes("say main"));
});

// Sending

test("typing is shown while a slow model works, and no more once it has answered", async () => {
  const hold = gate();
  await using t = await start({
    answer: async (request) => {
      await hold.opened;
      return echo(request);
    },
  });
  t.say(42, "say hello");
  await until("typing is shown", () => t.telegram.typing.length > 0);
  assert.deepEqual(t.texts(), []);
  hold.open();
  await t.telegram.waitForSent(1);
  const shown = t.telegram.typing.length;
  t.say(43, "say quick");
  await t.telegram.waitForSent(2);
  await until("the outbox is empty", async () => (await t.gateway.gateway.api.status()).outboundWaiting === 0);
  assert.deepEqual(
    t.telegram.typing.slice(0, shown).map(({ chatId, action }) => [chatId, action]),
    Array.from({ length: shown }, () => ["42", "typing"]),
  );
  const answeredAt = t.telegram.sent[0]?.at ?? 0;
  assert.ok(t.telegram.typing.every(({ at }) => at <= answeredAt));
});

test("a long answer comes in order in pieces below the limit, with each code block whole", async () => {
  const code = Array.from({ length: 300 }, (_, n) => `const line${n} = "<b>${n}</b>";`).join("\n");
  const prose = Array.from({ length: 300 }, (_, n) => `Sentence ${n} is **here**.`).join(" ");
  await using t = await start({ answer: { text: `${prose}\n\n\`\`\`js\n${code}\n\`\`\`\n\nThe end.` } });
  t.say(42, "go on");
  await until("the end came", () => t.texts().at(-1)?.includes("The end.") === true);
  assert.ok(t.telegram.sent.length >= 4);
  const text = t.texts(42).join("\n");
  let at = -1;
  for (const part of [...Array.from({ length: 300 }, (_, n) => `Sentence ${n} is`), ...code.split("\n"), "The end."]) {
    const next = text.indexOf(part, at + 1);
    assert.ok(next > at, `${part} is in its place`);
    at = next;
  }
  for (const { raw, text: shown, parseMode } of t.telegram.sent) {
    assert.ok(shown.length <= 4096);
    assert.equal(parseMode, "HTML");
    assert.equal(raw.match(/<pre>/g)?.length, raw.match(/<\/pre>/g)?.length);
  }
});

test("an answer that Telegram cannot parse is shown as plain text", async () => {
  await using t = await start({ answer: { text: "**so** it is" } });
  const description = "Bad Request: can't parse entities: Unexpected end tag";
  t.telegram.failNext({ method: "sendMessage", status: 400, description });
  t.say(42, "go on");
  await t.telegram.waitForSent(1);
  assert.deepEqual(
    t.telegram.sent.map(({ text, parseMode }) => [text, parseMode]),
    [["so it is", undefined]],
  );
});

test("a limit that Telegram names is kept for its chat, and other chats go on", async () => {
  await using t = await start();
  t.telegram.failNext({ method: "sendMessage", status: 429, retryAfter: 3, chatId: "42" });
  // Before it is limited, so that a slow machine cannot make the wait look short.
  const limitedAt = Date.now();
  t.say(42, "say slow");
  await until("it is limited", () => t.telegram.calls("sendMessage") === 1);
  t.say(42, "say next");
  t.say(43, "say free");
  await t.telegram.waitForSent(3);
  const at = (text: string) => t.telegram.sent.find((one) => one.text === text)?.at ?? 0;
  assert.ok(at("You said free.") < at("You said slow."));
  assert.ok(at("You said slow.") - limitedAt >= 2980, `${at("You said slow.") - limitedAt} ms`);
  assert.ok(at("You said next.") >= at("You said slow."));
  assert.equal(t.telegram.calls("sendMessage"), 4);
});

test("a bot that was blocked is a refusal: nothing is tried again, and the chat goes on when it is let in again", async () => {
  await using t = await start();
  t.telegram.failNext({ method: "sendMessage", status: 403 });
  t.say(42, "say lost");
  await until(
    "it is refused",
    async () => (await t.gateway.gateway.api.status()).outboundWaiting === 0 && t.telegram.calls("sendMessage") === 1,
  );
  t.say(42, "say back");
  await t.telegram.waitForSent(1);
  assert.deepEqual(t.texts(), ["You said back."]);
  await until("the outbox is empty", async () => (await t.gateway.gateway.api.status()).outboundWaiting === 0);
  const told = deliveries(await t.gateway.events("telegram:42"));
  assert.deepEqual(told, ["queued", "sending", "refused", "queued", "sending", "sent"]);
  assert.equal((await t.gateway.gateway.api.status()).deadLetters, 1);
});

test("answers of one chat stay in order when the first fails for a while; a chat that hangs holds up no other", async () => {
  await using t = await start();
  t.telegram.hangNext({ method: "sendMessage", chatId: "44" });
  t.say(44, "say hung");
  await until("it hangs", () => t.telegram.calls("sendMessage") === 1);
  t.telegram.failNext({ method: "sendMessage", status: 500, chatId: "42" });
  for (const word of ["one", "two", "three"]) t.say(42, `say ${word}`);
  t.say(43, "say other");
  await t.telegram.waitForSent(4);
  assert.deepEqual(t.texts(42), ["You said one.", "You said two.", "You said three."]);
  assert.deepEqual(t.texts(43), ["You said other."]);
  assert.deepEqual(t.texts(44), []);
});

test("an answer whose sending was cut is sent again, and said to be there perhaps twice", async () => {
  await using t = await start();
  for (const [chat, when, shown] of [
    [42, "after", 2],
    [43, "before", 1],
  ] as const) {
    t.telegram.cutNext({ method: "sendMessage", when, chatId: String(chat) });
    t.say(chat, "say hello");
    await until("it is shown", () => t.texts(chat).length === shown);
    await until("the outbox is empty", async () => (await t.gateway.gateway.api.status()).outboundWaiting === 0);
    assert.deepEqual(deliveries(await t.gateway.events(`telegram:${chat}`)), [
      "queued",
      "sending",
      "unknown maybe twice",
      "sending maybe twice",
      "sent maybe twice",
    ]);
  }
});

// Stopping and starting

test("a stop sends what is committed", async () => {
  await using t = await start({ latencyMs: 100 });
  t.say(42, "say hello");
  await t.gateway.waitForEvent(({ type }) => type === "turn_execution_complete", "telegram:42");
  assert.deepEqual(t.texts(), []);
  await t.gateway.gateway.drain(5000);
  assert.deepEqual(t.texts(), ["You said hello."]);
  assert.equal((await t.gateway.gateway.api.status()).outboundWaiting, 0);
});

test("a send that hangs does not hold up a stop for longer than its grace", async () => {
  await using t = await start();
  t.telegram.hangNext({ method: "sendMessage" });
  t.say(42, "say hung");
  await until("it hangs", () => t.telegram.calls("sendMessage") === 1);
  const began = Date.now();
  await t.gateway.gateway.drain(2000);
  assert.ok(Date.now() - began < 10_000, `${Date.now() - began} ms`);
  assert.equal((await t.gateway.gateway.api.status()).outboundWaiting, 1);
  t.gateway = await t.gateway.restart();
  await t.telegram.waitForSent(1);
  assert.deepEqual(t.texts(), ["You said hung."]);
});

test("a channel that is switched off keeps its answers until it is on again", async () => {
  await using t = await start();
  await until("it is connected", isConnected(t.gateway));
  // The first answer hangs, so that it is on its way when the gateway stops, and the second behind it.
  t.telegram.hangNext({ method: "sendMessage" });
  t.say(42, "say one");
  await until("it hangs", () => t.telegram.calls("sendMessage") === 1);
  t.say(42, "say two");
  await until("the second waits", async () => (await t.gateway.gateway.api.status()).outboundWaiting === 2);
  await t.configure({ enabled: false });
  const { home } = t.gateway;
  await t.gateway.gateway.drain(0);
  await t.gateway.gateway[Symbol.asyncDispose]();
  t.gateway = await startGateway({ home });
  assert.equal((await t.gateway.gateway.api.status()).outboundWaiting, 2);
  assert.equal((await t.gateway.ask("say page")).response, "You said page.");
  await t.configure({});
  t.gateway = await t.gateway.restart();
  await t.telegram.waitForSent(2);
  assert.deepEqual(t.texts(42), ["You said one.", "You said two."]);
  await assertNothingLost(t.gateway);
});

test("Telegram's traffic causes no warning of the runtime", async (t) => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", onWarning);
  t.after(() => process.off("warning", onWarning));
  await using setup = await start();
  for (let round = 0; round < 15; round += 1) {
    for (let chat = 1; chat <= 15; chat += 1) setup.say(chat, `say r${round}`);
    await setup.telegram.waitForSent(15 * (round + 1));
  }
  assert.deepEqual(warnings, []);
});
