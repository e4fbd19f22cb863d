import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReceivedFile, ReceivedMessage } from "../../../src/channels/channel.js";
import type { TelegramFile } from "../../../src/channels/telegram/files.js";
import { parseUpdate } from "../../../src/channels/telegram/receiving/update.js";
import { createTelegramChannel, type TelegramOptions } from "../../../src/channels/telegram/telegram.js";
import { ChannelError, EngineError } from "../../../src/errors.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { type FakeTelegram, startFakeTelegram } from "../../support/fakes/fake-telegram.js";
import { keepLog } from "../../support/log.js";
import { accepted, recordPublish, startChannel, textsOf } from "../../support/worlds/channels/channel-kit.js";

const token = "4242:receive-secret";
const bot = { id: 4242, username: "maxclaw_test_bot" };

function open(telegram: Pick<FakeTelegram, "url">, more: Partial<TelegramOptions> = {}, cursor?: string) {
  const log = keepLog();
  const cursors: string[] = [];
  const channel = createTelegramChannel(
    { token, apiRoot: telegram.url, pollTimeoutSeconds: 0.2, busyRetryMs: 10, log, ...more },
    {
      async cursor(name) {
        cursors.push(name);
        return cursor;
      },
      actsAtOnce: ({ content }) => content === "/stop",
    },
  );
  return { channel, log, cursors };
}

async function failureOfRun(
  telegram: Pick<FakeTelegram, "url">,
  more: Partial<TelegramOptions> = {},
): Promise<ChannelError> {
  await using running = startChannel(open(telegram, more).channel, recordPublish().publish);
  const failure = await running.ended;
  assert.ok(failure instanceof ChannelError);
  assert.doesNotMatch(textsOf(failure), /receive-secret/);
  return failure;
}

// Confirming

test("nothing is confirmed beyond an update whose publish has not resolved, whatever came after it", async () => {
  await using telegram = await startFakeTelegram({ token, firstUpdateId: 1000 });
  const hold = gate();
  const gateway = recordPublish(async (message) => {
    if (message.content === "hangs") await hold.opened;
    return accepted;
  });
  telegram.pushText({ chatId: 1, userId: 1, text: "before" });
  const stuck = telegram.pushText({ chatId: 2, userId: 2, text: "hangs" });
  telegram.pushText({ chatId: 3, userId: 3, text: "after" });
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await until("all came", () => gateway.messages.length === 3);
  telegram.pushUpdate({ message: { message_id: 9, date: 0, chat: { id: 1, type: "private" }, pinned_message: {} } });
  await telegram.waitForConfirmed(stuck.updateId);
  await until("several polls went by", () => telegram.calls("getUpdates") >= 4);
  assert.equal(telegram.confirmedOffset, stuck.updateId);
  assert.deepEqual(gateway.texts(), ["before", "hangs", "after"]);
  hold.open();
  await telegram.waitForConfirmed(stuck.updateId + 3);
  assert.equal(telegram.pending, 0);
});

test("what acts at once is passed on before what its chat has sent earlier, and the rest keeps its order", async () => {
  await using telegram = await startFakeTelegram({ token, firstUpdateId: 1000 });
  const hold = gate();
  const gateway = recordPublish(async (message) => {
    if (message.content === "slow") await hold.opened;
    return accepted;
  });
  telegram.pushText({ chatId: 1, userId: 1, text: "slow" });
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await until("it is under way", () => gateway.messages.length === 1);
  using _freed = { [Symbol.dispose]: hold.open };
  for (const text of ["next", "/stop", "last"]) telegram.pushText({ chatId: 1, userId: 1, text });
  await until("it is stopped", () => gateway.texts().includes("/stop"));
  assert.deepEqual(gateway.texts(), ["slow", "/stop"]);
  assert.equal(gateway.messages.at(-1)?.cursor?.value, "1000", "the position stays before what is not taken yet");
  hold.open();
  await until("all came", () => gateway.messages.length === 4);
  assert.deepEqual(gateway.texts(), ["slow", "/stop", "next", "last"]);
  await telegram.waitForConfirmed(1004);
});

test("the position that is stored with a message never lies beyond one that is not taken yet", async () => {
  await using telegram = await startFakeTelegram({ token, firstUpdateId: 1000 });
  const hold = gate();
  const gateway = recordPublish(async (message) => {
    if (message.content === "hangs") await hold.opened;
    return accepted;
  });
  telegram.pushText({ chatId: 1, userId: 1, text: "before" });
  telegram.pushText({ chatId: 2, userId: 2, text: "hangs" });
  telegram.pushText({ chatId: 3, userId: 3, text: "after" });
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await until("all came", () => gateway.messages.length === 3);
  const positions = (messages: readonly ReceivedMessage[]) =>
    messages.map(({ cursor }) => [cursor?.name, cursor?.value]);
  const name = "telegram:4242:offset";
  // The second is stored before the third, so that the third may carry the place behind the second only later.
  for (const [cursorName, value] of positions(gateway.messages)) {
    assert.equal(cursorName, name);
    assert.ok(Number(value) <= 1002, `${value} is not beyond the update that hangs`);
  }
  hold.open();
  await telegram.waitForConfirmed(1003);
  telegram.pushText({ chatId: 1, userId: 1, text: "last" });
  await until("the last came", () => gateway.messages.length === 4);
  assert.deepEqual(positions(gateway.messages).at(-1), [name, "1004"]);
});

test("polling goes on from the stored position, and from the beginning without one or with a broken one", async () => {
  for (const [stored, first] of [
    ["1001", 1001],
    [undefined, 0],
    ["nonsense", 0],
    ["-5", 0],
  ] as const) {
    await using telegram = await startFakeTelegram({ token, firstUpdateId: 1000 });
    telegram.pushText({ chatId: 1, userId: 1, text: "old" });
    telegram.pushText({ chatId: 1, userId: 1, text: "new" });
    const gateway = recordPublish();
    const { channel, cursors } = open(telegram, {}, stored);
    await using _running = startChannel(channel, gateway.publish);
    await until("the new one came", () => gateway.texts().includes("new"));
    assert.equal(telegram.offsets[0], first);
    assert.deepEqual(cursors, ["telegram:4242:offset"]);
    assert.deepEqual(gateway.texts(), first === 0 ? ["old", "new"] : ["new"]);
  }
});

test("what was not taken when the run ended comes again with the same id, and only that", async () => {
  await using telegram = await startFakeTelegram({ token });
  let isFull = true;
  const gateway = recordPublish((message) =>
    isFull && message.content !== "fine" ? { status: "busy", reply: "" } : accepted,
  );
  telegram.pushText({ chatId: 1, userId: 1, text: "fine" });
  telegram.pushText({ chatId: 2, userId: 2, text: "no room" });
  const { channel } = open(telegram);
  const first = startChannel(channel, gateway.publish);
  await until("both came", () => gateway.texts().includes("no room"));
  await first.stop();
  isFull = false;
  const seen = gateway.messages.length;
  await using _second = startChannel(channel, gateway.publish);
  await until("it came again", () => gateway.messages.length > seen);
  await until("all is confirmed", () => telegram.pending === 0);
  assert.deepEqual(gateway.texts().slice(seen), ["no room"]);
  assert.equal(gateway.messages.at(-1)?.dedupId, gateway.messages[1]?.dedupId);
});

test("a duplicate is confirmed like a new one", async () => {
  await using telegram = await startFakeTelegram({ token });
  const { updateId } = telegram.pushText({ chatId: 1, userId: 1, text: "again" });
  await using _running = startChannel(open(telegram).channel, recordPublish(() => ({ status: "duplicate" })).publish);
  await telegram.waitForConfirmed(updateId + 1);
});

// Faults of the gateway

test("a message that fails five times is given up and told, and the chat goes on", async () => {
  await using telegram = await startFakeTelegram({ token });
  const gateway = recordPublish((message) => {
    if (message.content === "poison") throw new Error("a bug");
    return accepted;
  });
  telegram.pushText({ chatId: 1, userId: 1, text: "poison" });
  const next = telegram.pushText({ chatId: 1, userId: 1, text: "fine" });
  const { channel, log } = open(telegram);
  await using _running = startChannel(channel, gateway.publish);
  await telegram.waitForConfirmed(next.updateId + 1);
  await telegram.waitForSent(1);
  assert.match(telegram.sent[0]?.text ?? "", /could not be taken/);
  assert.equal(gateway.texts().filter((text) => text === "poison").length, 5);
  assert.equal(gateway.texts().filter((text) => text === "fine").length, 1);
  assert.equal(log.lines.filter((line) => line.level === "error").length, 5);
});

test("a disk that refuses for long costs no message", async () => {
  await using telegram = await startFakeTelegram({ token });
  const { updateId } = telegram.pushText({ chatId: 1, userId: 1, text: "keep me" });
  const gateway = recordPublish((_message, nth) => {
    if (nth <= 8) throw new EngineError("The disk is full", { kind: "persistence" });
    return accepted;
  });
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await telegram.waitForConfirmed(updateId + 1);
  assert.equal(gateway.messages.length, 9);
  assert.equal(telegram.sent.length, 0);
});

// Faults of the connection

test("another program with the same token is named, and so is a token that Telegram does not know", async () => {
  await using telegram = await startFakeTelegram({ token });
  telegram.failNext({ method: "getUpdates", status: 409 });
  const conflict = await failureOfRun(telegram);
  assert.match(conflict.message, /Another program polls .* same bot token/);
  assert.ok(conflict.retryable);
  const unknown = await failureOfRun(telegram, { token: "4242:wrong" });
  assert.match(unknown.message, /channels\.telegram\.token/);
  assert.ok(!unknown.retryable);
});

test("a webhook that an earlier program left behind is taken away, with its updates kept", async () => {
  await using telegram = await startFakeTelegram({ token });
  telegram.setWebhook("https://example.org/hook");
  telegram.pushText({ chatId: 1, userId: 1, text: "waiting" });
  const gateway = recordPublish();
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await until("it came", () => gateway.texts().includes("waiting"));
});

test("a wait that Telegram names is passed on, and failures of server and network say to try again", async () => {
  await using telegram = await startFakeTelegram({ token });
  const faults: readonly (readonly [string, () => void, RegExp])[] = [
    ["429", () => telegram.failNext({ method: "getUpdates", status: 429, retryAfter: 3 }), /429/],
    ["500", () => telegram.failNext({ method: "getUpdates", status: 500 }), /500/],
    ["a proxy's page", () => telegram.failNext({ method: "getUpdates", status: 502, body: "<h1>Bad</h1>" }), /reached/],
    ["cut before", () => telegram.cutNext({ method: "getUpdates", when: "before" }), /cannot be reached: \S/],
    ["cut after", () => telegram.cutNext({ method: "getUpdates", when: "after" }), /cannot be reached: \S/],
    ["500 at the start", () => telegram.failNext({ method: "getMe", status: 500 }), /getMe \(500/],
  ];
  for (const [name, arrange, message] of faults) {
    arrange();
    const failure = await failureOfRun(telegram);
    assert.ok(failure.retryable, name);
    assert.match(failure.message, message, name);
    assert.equal(failure.retryAfterMs, name === "429" ? 3000 : undefined, name);
  }
  const { url } = telegram;
  await telegram.stop();
  const gone = await failureOfRun({ url });
  assert.ok(gone.retryable);
  assert.match(gone.message, /cannot be reached: .*ECONNREFUSED/);
});

test("updates whose answer was lost on the way come again", async () => {
  await using telegram = await startFakeTelegram({ token });
  telegram.pushText({ chatId: 1, userId: 1, text: "handed out twice" });
  telegram.cutNext({ method: "getUpdates", when: "after" });
  const gateway = recordPublish();
  const { channel } = open(telegram);
  await startChannel(channel, gateway.publish).ended;
  assert.equal(telegram.pending, 1);
  await using _second = startChannel(channel, gateway.publish);
  await until("it is confirmed", () => telegram.pending === 0);
  assert.deepEqual(gateway.texts(), ["handed out twice"]);
});

test("a poll that is never answered is noticed", async () => {
  await using telegram = await startFakeTelegram({ token });
  const { channel } = open(telegram, { pollTimeoutSeconds: 0.05, pollGraceMs: 100 });
  await using running = startChannel(channel, recordPublish().publish);
  await until("it is connected", () => running.connections() === 1);
  const began = Date.now();
  telegram.hangNext({ method: "getUpdates" });
  const failure = await running.ended;
  assert.ok(failure instanceof ChannelError && failure.retryable);
  assert.match(failure.message, /not even to say that there is nothing new/);
  assert.ok(Date.now() - began < 8000);
});

test("an address that is none is said with its key", async () => {
  const failure = await failureOfRun({ url: "api.example" });
  assert.match(failure.message, /channels\.telegram\.apiRoot/);
  assert.ok(!failure.retryable);
});

test("the command menu is set when the bot is connected, and its failure harms nothing", async () => {
  await using telegram = await startFakeTelegram({ token });
  const commands = [{ command: "help", description: "What I can do" }];
  await using first = startChannel(open(telegram, { commands }).channel, recordPublish().publish);
  await until("the menu is set", () => telegram.commands.length === 1);
  assert.deepEqual(telegram.commands, commands);
  await first.stop();
  telegram.failNext({ method: "setMyCommands", status: 400 });
  const gateway = recordPublish();
  await using _second = startChannel(open(telegram, { commands }).channel, gateway.publish);
  telegram.pushText({ chatId: 1, userId: 1, text: "hi" });
  await until("messages come all the same", () => gateway.messages.length === 1);
});

test("a message that is slow to be taken does not keep a lost connection from being noticed, and comes again", async () => {
  await using telegram = await startFakeTelegram({ token });
  const hold = gate();
  const gateway = recordPublish(async () => {
    await hold.opened;
    return accepted;
  });
  telegram.pushText({ chatId: 1, userId: 1, text: "with a large file" });
  const { channel } = open(telegram);
  await using first = startChannel(channel, gateway.publish);
  await until("it came", () => gateway.messages.length === 1);
  telegram.cutNext({ method: "getUpdates", when: "before" });
  let isTaken = false;
  const giveUp = setTimeout(() => {
    isTaken = true;
    hold.open();
  }, 10_000);
  const failure = await first.ended;
  assert.ok(failure instanceof ChannelError && !isTaken);
  await using _second = startChannel(channel, gateway.publish);
  await until("it came again", () => gateway.messages.length === 2).finally(hold.open);
  clearTimeout(giveUp);
  assert.equal(gateway.messages[0]?.dedupId, gateway.messages[1]?.dedupId);
});

test("a notice that Telegram asks to send later is sent later", async () => {
  await using telegram = await startFakeTelegram({ token });
  telegram.failNext({ method: "sendMessage", status: 429, retryAfter: 1, times: 2 });
  telegram.pushText({ chatId: 1, userId: 1, text: "hello?" });
  const gateway = recordPublish(() => ({ status: "refused", reply: "I do not know you." }));
  await using _running = startChannel(open(telegram).channel, gateway.publish);
  await telegram.waitForSent(1);
  assert.equal(telegram.sent[0]?.text, "I do not know you.");
});

// Albums

const albumPart = (name: string) => ({ media_group_id: "77", document: { file_id: name, file_name: name } });

test("an album whose parts come with several polls is one message, however slow the line is", async () => {
  await using telegram = await startFakeTelegram({ token, latencyMs: 600 });
  const gateway = recordPublish();
  const options = { pollTimeoutSeconds: 5 };
  await using _running = startChannel(open(telegram, options).channel, gateway.publish);
  await until("it waits for something", () => telegram.offsets.length >= 2, 10_000);
  for (const name of ["a.txt", "b.txt"]) telegram.pushMessage(albumPart(name));
  await until("it came", () => gateway.messages.length > 0, 10_000);
  assert.deepEqual(
    gateway.messages.map(({ files = [] }) => files.map(({ filename }) => filename)),
    [["a.txt", "b.txt"]],
  );
});

test("an album that a lost connection has cut apart is put together when it comes again", async () => {
  await using telegram = await startFakeTelegram({ token });
  const gateway = recordPublish();
  const { channel } = open(telegram, { pollTimeoutSeconds: 5 });
  await using first = startChannel(channel, gateway.publish);
  await until("it waits for something", () => telegram.offsets.length >= 2);
  telegram.cutNext({ method: "getUpdates", when: "before" });
  telegram.pushMessage(albumPart("a.txt"));
  assert.ok((await first.ended) instanceof ChannelError);
  telegram.pushMessage(albumPart("b.txt"));
  await using _second = startChannel(channel, gateway.publish);
  await until("it came", () => gateway.messages.length > 0);
  assert.deepEqual(
    gateway.messages.map(({ files = [] }) => files.length),
    [2],
  );
});

// What an update says

const ada = { id: 7, is_bot: false, first_name: "Ada", last_name: "L" };
const group = { id: -5, type: "supergroup", title: "Group" };

/** Files are told by what is known about them. */
const noFile = ({ fileId: _fileId, ...about }: TelegramFile): ReceivedFile => ({ ...about, read });
const read = async () => new Uint8Array();

function parse(message: Readonly<Record<string, unknown>>): ReceivedMessage | string {
  const update = {
    update_id: 1,
    message: { message_id: 3, date: 0, chat: { id: 7, type: "private" }, from: ada, ...message },
  };
  const parsed = parseUpdate(update, 1, bot, noFile);
  return "ignored" in parsed ? parsed.ignored : parsed.message;
}

function parsed(message: Readonly<Record<string, unknown>>): ReceivedMessage {
  const result = parse(message);
  if (typeof result === "string") throw new Error(`It was ignored: ${result}`);
  return result;
}

test("a direct message is addressed, and its sender is known by the number", () => {
  assert.deepEqual(parsed({ text: "hi" }), {
    chatId: "7",
    chatType: "dm",
    thread: undefined,
    senderId: "7",
    senderName: "Ada L",
    content: "hi",
    addressed: true,
    platformMessageId: "3",
    replyTo: undefined,
    dedupId: "telegram:4242:1",
  });
});

test("in a group the bot is addressed by its name, by a command to it, and by a reply to it, not by what looks alike", () => {
  const mention = (text: string, offset: number, length: number, more: object = {}) => ({
    chat: group,
    text,
    entities: [{ type: "mention", offset, length, ...more }],
  });
  const replyToUser = (from: object) => ({ chat: group, text: "yes", reply_to_message: { message_id: 2, from } });
  const cases: readonly (readonly [string, Readonly<Record<string, unknown>>, boolean, string])[] = [
    ["plain", { chat: group, text: "hello all" }, false, "hello all"],
    ["named first", mention("@maxclaw_test_bot, hi", 0, 17), true, "hi"],
    ["named last, in other letters", mention("hi @MaxClaw_Test_Bot", 3, 17), true, "hi"],
    ["after an emoji", mention("😀 @maxclaw_test_bot go", 3, 17), true, "😀 go"],
    ["only the name", mention("@maxclaw_test_bot", 0, 17), true, "@maxclaw_test_bot"],
    ["a longer name", mention("@maxclaw_test_bot2 hi", 0, 18), false, "@maxclaw_test_bot2 hi"],
    ["no entity", { chat: group, text: "@maxclaw_test_bot hi" }, false, "@maxclaw_test_bot hi"],
    ["text mention", mention("Max hi", 0, 3, { type: "text_mention", user: { id: bot.id } }), true, "hi"],
    ["text mention of another", mention("Eve hi", 0, 3, { type: "text_mention", user: { id: 8 } }), false, "Eve hi"],
    ["command to it", mention("/new@maxclaw_test_bot", 0, 21, { type: "bot_command" }), true, "/new"],
    ["command to nobody", mention("/new", 0, 4, { type: "bot_command" }), false, "/new"],
    ["reply to it", replyToUser({ id: bot.id, is_bot: true }), true, "yes"],
    ["reply to another", replyToUser({ id: 8 }), false, "yes"],
  ];
  for (const [name, message, isAddressed, content] of cases) {
    const received = parsed(message);
    assert.deepEqual([received.addressed, received.content], [isAddressed, content], name);
    assert.deepEqual([received.chatType, received.senderId], ["group", "7"], name);
  }
});

test("a topic is a thread, and its messages do not answer the one that opened it; replies elsewhere make no thread", () => {
  const inTopic = { chat: group, is_topic_message: true, message_thread_id: 50, text: "x" };
  const opening = { message_id: 50, from: { id: bot.id, is_bot: true } };
  const plain = parsed({ ...inTopic, reply_to_message: opening });
  assert.deepEqual([plain.thread, plain.replyTo, plain.addressed], ["50", undefined, false]);
  const answer = parsed({ ...inTopic, reply_to_message: { ...opening, message_id: 60 } });
  assert.deepEqual([answer.thread, answer.replyTo, answer.addressed], ["50", "60", true]);
  // Where there are no topics, a reply has the id of the first message that was replied to.
  const first = { message_id: 9, text: "A reminder.", from: { id: bot.id, is_bot: true } };
  const thread = parsed({ chat: group, message_thread_id: 9, text: "x", reply_to_message: first });
  assert.deepEqual([thread.thread, thread.replyTo, thread.addressed], [undefined, "9", true]);
  assert.equal(thread.quoted?.text, "A reminder.");
});

test("service messages, bots and updates that name no sender are ignored", () => {
  assert.equal(parse({ new_chat_members: [ada] }), "it has no content");
  assert.equal(parse({ text: "   " }), "it has no content");
  assert.equal(parse({ text: "beep", from: { id: 9, is_bot: true } }), "it has no human sender");
  assert.equal(parse({ text: "x", from: undefined }), "it has no human sender");
  for (const update of [{ edited_message: { text: 5 } }, { channel_post: {} }, "nonsense", null])
    assert.ok("ignored" in parseUpdate(update, 1, bot, noFile));
});

test("a message that is not as documented is told to who may talk and named in the log, and the next one comes", async () => {
  await using telegram = await startFakeTelegram({ token });
  const gateway = recordPublish(({ unreadable }) =>
    unreadable === undefined ? accepted : { status: "refused", reply: `I cannot read ${unreadable}.` },
  );
  const { channel, log } = open(telegram);
  await using _running = startChannel(channel, gateway.publish);
  telegram.pushMessage({ hologram: {}, text: 5 });
  await telegram.waitForSent(1);
  telegram.pushMessage({ text: "and now?" });
  await until("the next one came", () => gateway.texts().includes("and now?"));
  assert.deepEqual(
    telegram.sent.map(({ text }) => text),
    ["I cannot read messages of this kind (hologram)."],
  );
  const [bad] = gateway.messages;
  assert.deepEqual([bad?.content, bad?.chatId, bad?.senderId, bad?.addressed], ["", "42", "42", true]);
  assert.ok(log.lines.some(({ level, message }) => level === "warn" && /hologram[\s\S]*text/.test(message)));
});

test("what is not as documented in a group is for the assistant only where it is named", () => {
  const bad = (more: object) => parsed({ chat: group, poll: {}, sticker: {}, caption_entities: 7, ...more });
  assert.equal(bad({ text: "hello all" }).addressed, false);
  const entities = [{ type: "mention", offset: 0, length: 17 }];
  const named = bad({ text: "@maxclaw_test_bot", entities });
  assert.deepEqual([named.addressed, named.unreadable], [true, "messages of this kind (poll)"]);
});

test("anonymous admins are told apart by the chat they write as", () => {
  const from = { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
  const { senderId, senderName } = parsed({ chat: group, from, sender_chat: group, text: "x" });
  assert.deepEqual([senderId, senderName], ["-5", "Group"]);
});

test("what is not text is told as a note, together with its caption", () => {
  const note = (message: Readonly<Record<string, unknown>>) => parsed(message).content;
  assert.equal(note({ location: { latitude: 1.5, longitude: -2 } }), "[location: 1.5, -2]");
  assert.equal(note({ contact: { first_name: "Bo", phone_number: "+1" } }), "[contact: Bo, +1]");
  assert.equal(note({ poll: { question: "Tea?" } }), "[poll: Tea?]");
  assert.equal(note({ dice: { emoji: "🎲", value: 6 } }), "[🎲 6]");
  assert.match(note({ story: {} }), /^\[story, which cannot be read here\]$/);
  assert.equal(note({ text: "news", forward_origin: { type: "hidden_user" } }), "[forwarded]\nnews");
});

test("a file is told with its name, kind and size, of a photo the largest, and its caption is the text", () => {
  const about = (message: Readonly<Record<string, unknown>>) => {
    const { content, files = [] } = parsed(message);
    return [
      content,
      ...files.map(({ filename, mimeType, sizeBytes, isVoice }) => [filename, mimeType, sizeBytes, isVoice]),
    ];
  };
  const photo = [
    { file_id: "s", width: 90, file_size: 100 },
    { file_id: "l", width: 900, file_size: 1000 },
    { file_id: "m", width: 300, file_size: 500 },
  ];
  assert.deepEqual(about({ photo, caption: "look" }), ["look", ["photo.jpg", "image/jpeg", 1000, undefined]]);
  assert.deepEqual(about({ document: { file_id: "d", file_name: "a.pdf", mime_type: "application/pdf" } }), [
    "",
    ["a.pdf", "application/pdf", undefined, undefined],
  ]);
  assert.deepEqual(about({ voice: { file_id: "v", mime_type: "audio/ogg" } }), [
    "",
    ["voice.ogg", "audio/ogg", undefined, true],
  ]);
  // Telegram sets `document` too, for programs that do not know animations.
  const animation = { file_id: "a", file_name: "a.mp4" };
  assert.equal(parsed({ animation, document: { file_id: "a" } }).files?.length, 1);
  const caption = "@maxclaw_test_bot what is this?";
  const entities = [{ type: "mention", offset: 0, length: 17 }];
  assert.equal(parsed({ chat: group, photo, caption, caption_entities: entities }).addressed, true);
});

test("a sticker is something that cannot be read, unless words come with it", () => {
  const { content, unreadable } = parsed({ sticker: { emoji: "👍" } });
  assert.deepEqual([content, unreadable], ["", "stickers"]);
});

test("what a message answers is told: of the bot, of its sender, of others, and the part that was marked", () => {
  const original = { message_id: 2, text: "x".repeat(1000), from: { id: bot.id, is_bot: true } };
  const { quoted } = parsed({ text: "why?", reply_to_message: original });
  assert.deepEqual([quoted?.by, quoted?.text.length], ["assistant", 400]);
  const own = { message_id: 2, text: "mine", from: ada };
  assert.deepEqual(parsed({ text: "x", reply_to_message: own }).quoted, {
    text: "mine",
    by: "sender",
    name: undefined,
  });
  const other = { message_id: 2, caption: "a long story", from: { id: 9, is_bot: false, first_name: "Bo" } };
  assert.deepEqual(parsed({ text: "x", reply_to_message: other, quote: { text: "story" } }).quoted, {
    text: "story",
    by: "other",
    name: "Bo",
  });
});

test("the file of what a message answers comes along, and whose it was", () => {
  const from = { id: 9, is_bot: false, first_name: "Bo" };
  const document = { file_id: "d", file_name: "plan.pdf", mime_type: "application/pdf" };
  const answering = parsed({ text: "summarise this", reply_to_message: { message_id: 2, document, from } });
  assert.deepEqual(answering.quoted, { text: "[plan.pdf]", by: "other", name: "Bo" });
  assert.deepEqual(
    answering.quotedFiles?.map(({ filename, mimeType }) => [filename, mimeType]),
    [["plan.pdf", "application/pdf"]],
  );
  assert.equal(answering.files, undefined);
  const captioned = { message_id: 2, photo: [{ file_id: "p" }], caption: "us", from: ada };
  assert.equal(parsed({ text: "x", reply_to_message: captioned }).quoted?.text, "[photo.jpg]\nus");
  const elsewhere = parsed({
    text: "and this?",
    quote: { text: "the part" },
    external_reply: { origin: { type: "user", sender_user: from }, document },
  });
  assert.deepEqual(elsewhere.quoted, { text: "[plan.pdf]\nthe part", by: "other", name: "Bo" });
  assert.equal(elsewhere.quotedFiles?.length, 1);
});

test("whose location is followed writes one message, however far they walk", () => {
  const location = { latitude: 1, longitude: 2, live_period: 900 };
  assert.equal(parsed({ location }).content, "[location: 1, 2]");
  const moved = { message_id: 3, date: 0, chat: { id: 7, type: "private" }, from: ada, location };
  assert.ok("ignored" in parseUpdate({ update_id: 9, edited_message: moved }, 9, bot, noFile));
});

test("an edit is told as one, under the number of the message that it changes", () => {
  const edited = { message_id: 3, date: 0, chat: { id: 7, type: "private" }, from: ada, text: "better" };
  const result = parseUpdate({ update_id: 9, edited_message: edited }, 9, bot, noFile);
  assert.ok("message" in result);
  const { change, platformMessageId, content, dedupId } = result.message;
  assert.deepEqual([change, platformMessageId, content, dedupId], ["edited", "3", "better", "telegram:4242:9"]);
});
