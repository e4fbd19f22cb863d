import assert from "node:assert/strict";
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseCommand } from "../../../src/agent/commands/chat-command.js";
import { asksToStop } from "../../../src/agent/questions/interrupt-phrases.js";
import { OpenQuestions } from "../../../src/agent/questions/open-questions.js";
import { createMessageBus } from "../../../src/bus/message-bus.js";
import type { ReceivedFile, ReceivedMessage } from "../../../src/channels/channel.js";
import { ChannelError } from "../../../src/errors.js";
import { SessionLives } from "../../../src/events/session-lives.js";
import { createAnswers } from "../../../src/inbound/answers.js";
import { Intake } from "../../../src/inbound/intake.js";
import { ReceivedFiles, type ReceivedFilesOptions } from "../../../src/inbound/received-files.js";
import { StuckChats } from "../../../src/inbound/stuck-chats.js";
import { OwnerClaims } from "../../../src/policy/owner-claims.js";
import { createPairing } from "../../../src/policy/pairing.js";
import { createPolicy } from "../../../src/policy/policy.js";
import { createRateLimiter, type RateLimits } from "../../../src/policy/rate-limits.js";
import { gate, logPath, openIn, tempFolder } from "../../support/engine/engine-kit.js";
import { keepLog } from "../../support/log.js";
import { never } from "../../support/worlds/channels/channel-kit.js";

async function openIntake(
  t: TestContext,
  options: {
    readonly allowFrom?: readonly string[];
    readonly owners?: readonly string[];
    readonly pendingPerKey?: number;
    readonly prepareSession?: (key: string) => Promise<void>;
    readonly perMinute?: RateLimits;
    readonly now?: () => number;
    readonly transcribe?: ReceivedFilesOptions["transcribe"];
  } = {},
) {
  const {
    allowFrom = ["*"],
    owners = [],
    pendingPerKey = 100,
    prepareSession = async () => {},
    perMinute = { sender: 0, chat: 0 },
    now = Date.now,
  } = options;
  const home = tempFolder(t);
  const { engine } = await openIn(home, { limits: { pendingPerKey, waitMs: 20 } });
  t.after(() => engine[Symbol.asyncDispose]());
  const bus = createMessageBus(engine);
  const log = keepLog();
  const policy = createPolicy({
    executionMode: "auto",
    workspace: home,
    restrictToWorkspace: true,
    owners,
    channels: { telegram: { allowFrom } },
  });
  const pairing = createPairing(await engine.records.open("pairing"), { now: Date.now });
  const questions = new OpenQuestions();
  const stuck = new StuckChats(now);
  const sessions = { exists: async () => false, open: () => Promise.reject(new Error("no session")) };
  const answers = createAnswers({ questions, sessions, elsewhere: async () => undefined, saveSecrets: async () => {} });
  const intake = new Intake({
    people: {
      policy,
      pairing,
      claims: new OwnerClaims(Date.now),
      rates: createRateLimiter(() => perMinute, { now: Date.now }),
    },
    store: {
      bus,
      lives: new SessionLives(log),
      waiting: (queue, key) => engine.waiting(queue, key),
      isWritable: () => engine.status().writable,
      prepareSession,
    },
    words: { isCommand: (content) => parseCommand(content) !== undefined, asksToStop },
    questions,
    answers,
    files: new ReceivedFiles({
      folderOf: () => join(home, "received"),
      maxBytes: 1000,
      transcribe: options.transcribe,
      log,
      retryDelayMs: 1,
    }),
    stuck,
    now,
    log,
  });
  const receive = (channel: string, message: ReceivedMessage, signal = never) =>
    intake.receive(channel, message, signal);
  return {
    home,
    engine,
    bus,
    log,
    pairing,
    questions,
    stuck,
    intake: { receive, actsAtOnce: intake.actsAtOnce.bind(intake) },
  };
}

function received(content: string, more: Partial<ReceivedMessage> = {}): ReceivedMessage {
  return {
    chatId: "42",
    chatType: "dm",
    addressed: true,
    senderId: "42",
    content,
    ...more,
  };
}

const waitingIn = async (engine: { waiting: Awaited<ReturnType<typeof openIn>>["engine"]["waiting"] }, key: string) =>
  (await engine.waiting("inbound", key)).map(({ body }) => body.content);

test("a message is stored under the session of its chat and thread, with an id and a time of our own", async (t) => {
  const { engine, intake } = await openIntake(t);
  const cursor = { name: "telegram:offset", value: "8" };
  const outcome = await intake.receive("telegram", received("hi", { thread: "5", dedupId: "d:1", cursor }));
  assert.deepEqual(outcome, { status: "accepted" });
  const [work] = await engine.waiting("inbound", "telegram:42:5");
  assert.match(work?.body.id ?? "", /^msg_/);
  assert.ok(Math.abs((work?.body.receivedAt ?? 0) - Date.now()) < 5000);
  assert.equal(await engine.cursor("telegram:offset"), "8");
  assert.deepEqual(await intake.receive("telegram", received("hi", { thread: "5", dedupId: "d:1" })), {
    status: "duplicate",
  });
  assert.equal((await engine.waiting("inbound", "telegram:42:5")).length, 1);
});

test("messages keep their order while the past of their session is still being read", async (t) => {
  const read = gate();
  let reads = 0;
  const ready = (): Promise<void> => {
    reads += 1;
    return read.opened;
  };
  const { engine, intake } = await openIntake(t, { prepareSession: ready });
  const all = [1, 2, 3, 4].map((n) => intake.receive("telegram", received(`message ${n}`)));
  read.open();
  await Promise.all(all);
  assert.equal(reads, 4);
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["message 1", "message 2", "message 3", "message 4"]);
});

test("a session that cannot be read does not keep its messages from being stored", async (t) => {
  const { engine, intake, log } = await openIntake(t, {
    prepareSession: async () => {
      throw new Error("the log is damaged");
    },
  });
  assert.deepEqual(await intake.receive("telegram", received("hi")), { status: "accepted" });
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["hi"]);
  assert.ok(log.lines.some(({ level, message }) => level === "warn" && message.includes("damaged")));
});

test("a message that cannot be stored because something cannot be read is not taken, and its sender is told why", async (t) => {
  const { intake, home } = await openIntake(t);
  // A folder instead of the log: it cannot be read.
  mkdirSync(join(logPath(home, "telegram:42"), "inner"), { recursive: true });
  const outcome = await intake.receive("telegram", received("hi"));
  assert.deepEqual(outcome, {
    status: "busy",
    reply: "I cannot read my disk right now. Your message waits, and I take it as soon as I can.",
  });
});

test("a stranger gets a code once and nothing is stored; a group stays silent; after the approval messages are taken", async (t) => {
  const { engine, intake, pairing } = await openIntake(t, { allowFrom: [] });
  const first = await intake.receive("telegram", received("let me in"));
  assert.equal(first.status, "refused");
  const code = /maxclaw pair approve (\S+)/.exec(first.status === "refused" ? (first.reply ?? "") : "")?.[1] ?? "";
  assert.deepEqual(await intake.receive("telegram", received("hello?")), { status: "refused" });
  assert.deepEqual(await intake.receive("telegram", received("hello all", { chatId: "-100", chatType: "group" })), {
    status: "refused",
  });
  assert.equal(engine.status().inboundWaiting, 0);
  await pairing.approve(code);
  assert.deepEqual(await intake.receive("telegram", received("thank you")), { status: "accepted" });
});

test("what a full chat cannot take is refused for good, told once, and its neighbour goes on", async (t) => {
  const { engine, intake } = await openIntake(t, { pendingPerKey: 1 });
  const cursor = { name: "telegram:offset", value: "9" };
  assert.equal((await intake.receive("telegram", received("one"))).status, "accepted");
  const full = await intake.receive("telegram", received("two", { dedupId: "d:2", cursor }));
  assert.match(full.status === "refused" ? (full.reply ?? "") : "", /I do not read new ones until I have caught up/);
  assert.deepEqual(await intake.receive("telegram", received("three")), { status: "refused" }, "told once");
  assert.equal((await intake.receive("telegram", received("one", { chatId: "43" }))).status, "accepted");
  assert.equal(await engine.cursor("telegram:offset"), "9");
  await engine.deleteSession("telegram:42");
  // Its platform gives it once more: who was told that it is left out must not get an answer.
  assert.deepEqual(await intake.receive("telegram", received("two", { dedupId: "d:2" })), { status: "duplicate" });
  assert.equal((await intake.receive("telegram", received("four"))).status, "accepted");
});

test("commands, stop phrases and what may answer an open question are taken by a full chat", async (t) => {
  const { engine, intake, questions } = await openIntake(t, { pendingPerKey: 1 });
  for (const text of ["one", "/stop", "Stop!", "/new"])
    assert.equal((await intake.receive("telegram", received(text))).status, "accepted", text);
  assert.equal((await intake.receive("telegram", received("yes"))).status, "refused");
  questions.open(
    {
      sessionKey: "telegram:42",
      chatKey: "telegram:42",
      asked: {
        request_id: "ask_1",
        kind: "clarification",
        question: "Shall I?",
        allow_custom: true,
        options: [],
        timeout_seconds: 60,
        expires_at: new Date().toISOString(),
      },
      asker: { channel: "telegram", senderId: "42" },
    },
    async () => {},
  );
  assert.equal((await intake.receive("telegram", received("yes"))).status, "accepted");
  assert.equal((await engine.waiting("inbound", "telegram:42")).length, 5);
});

test("a chat whose log fails is tried for some seconds, and refused then, with a word and a name in the status", async (t) => {
  const clock = { now: Date.now() };
  const { home, engine, intake, stuck } = await openIntake(t, { now: () => clock.now });
  // A folder instead of the log: it can be neither read nor written.
  mkdirSync(logPath(home, "telegram:42"), { recursive: true });
  const first = received("one", { dedupId: "d:1", cursor: { name: "telegram:offset", value: "2" } });
  assert.deepEqual((await intake.receive("telegram", first)).status, "busy");
  assert.equal((await intake.receive("telegram", received("one", { chatId: "43" }))).status, "accepted");
  clock.now += 3000;
  const refused = await intake.receive("telegram", first);
  assert.match(refused.status === "refused" ? (refused.reply ?? "") : "", /cannot open the log of this chat/);
  assert.deepEqual(await intake.receive("telegram", received("two")), { status: "refused" }, "at once, and told once");
  assert.deepEqual(
    stuck.list().map(({ sessionKey }) => sessionKey),
    ["telegram:42"],
  );
  rmdirSync(logPath(home, "telegram:42"));
  assert.deepEqual(await intake.receive("telegram", first), { status: "duplicate" });
  assert.equal((await intake.receive("telegram", received("three"))).status, "accepted");
  assert.deepEqual(stuck.list(), []);
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["three"]);
});

test("who wants a turn stopped does not wait for a file that is still being fetched", async (t) => {
  const fetched = gate();
  const { engine, intake } = await openIntake(t);
  const read = async (): Promise<Buffer> => {
    await fetched.opened;
    return Buffer.from("slow");
  };
  const first = intake.receive("telegram", received("look", { files: [fileOf("slow", { read })] }));
  assert.equal((await intake.receive("telegram", received("/stop"))).status, "accepted");
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["/stop"]);
  fetched.open();
  await first;
});

test("while the gateway stops a message is left with its platform, and nobody is asked to send it twice", async (t) => {
  const { bus, engine, intake } = await openIntake(t);
  bus.close();
  assert.deepEqual(await intake.receive("telegram", received("late")), { status: "busy", reply: "" });
  assert.equal(engine.status().inboundWaiting, 0);
});

// Files

const fileOf = (content: string, more: Partial<ReceivedFile> = {}): ReceivedFile => ({
  filename: "a.txt",
  mimeType: "text/plain",
  read: async () => Buffer.from(content),
  ...more,
});

test("what follows a file in its chat waits for it, other chats do not", async (t) => {
  const fetched = gate();
  const { engine, intake } = await openIntake(t);
  const slow = fileOf("slow", {
    read: async () => {
      await fetched.opened;
      return Buffer.from("slow");
    },
  });
  const first = intake.receive("telegram", received("with a file", { files: [slow], dedupId: "d:1" }));
  const second = intake.receive("telegram", received("after it", { dedupId: "d:2" }));
  await intake.receive("telegram", received("elsewhere", { chatId: "43", senderId: "43" }));
  assert.deepEqual(await waitingIn(engine, "telegram:42"), []);
  assert.deepEqual(await waitingIn(engine, "telegram:43"), ["elsewhere"]);
  fetched.open();
  await Promise.all([first, second]);
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["with a file", "after it"]);
});

test("no byte of a stranger's file is fetched, and a name from outside leads nowhere else", async (t) => {
  const { home, engine, intake } = await openIntake(t, { allowFrom: ["7"] });
  let reads = 0;
  const file = fileOf("x", {
    filename: "../../.ssh/\u0000authorized_keys",
    read: async () => {
      reads += 1;
      return Buffer.from("x");
    },
  });
  await intake.receive("telegram", received("", { files: [file] }));
  assert.equal(reads, 0);
  await intake.receive("telegram", received("", { files: [file], senderId: "7", dedupId: "d:9" }));
  const [work] = await engine.waiting("inbound", "telegram:42");
  const path = work?.body.attachments[0]?.path ?? "";
  assert.match(path, /\/received\/[0-9a-f]{8}-_authorized_keys$/);
  assert.ok(path.startsWith(join(home, "received")));
});

test("a file that cannot be had for a moment is asked for again; a stop leaves the message with its platform", async (t) => {
  const { engine, intake } = await openIntake(t);
  let reads = 0;
  const shaky = fileOf("", {
    read: async () => {
      reads += 1;
      if (reads < 3) throw new ChannelError("The line is dead.", { retryable: true });
      return Buffer.from("here");
    },
  });
  await intake.receive("telegram", received("one", { files: [shaky] }));
  assert.deepEqual([reads, (await engine.waiting("inbound", "telegram:42"))[0]?.body.attachments.length], [3, 1]);
  const stop = new AbortController();
  const hanging = fileOf("", {
    read: (_most, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const outcome = intake.receive("telegram", received("two", { files: [hanging] }), stop.signal);
  setImmediate(() => stop.abort());
  assert.deepEqual(await outcome, { status: "busy", reply: "" });
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["one"]);
});

test("a voice message that cannot be written down is kept, and its sender is told", async (t) => {
  const transcribe = () => Promise.reject(new Error("no server there"));
  const { engine, intake, log } = await openIntake(t, { transcribe });
  await intake.receive("telegram", received("", { files: [fileOf("OggS", { filename: "voice.ogg", isVoice: true })] }));
  const [work] = await engine.waiting("inbound", "telegram:42");
  assert.match(work?.body.content ?? "", /^\[a voice message, which could not be written down.*its sender was told\]$/);
  assert.equal(work?.body.attachments.length, 1);
  const [told] = await engine.waiting("outbound", "telegram:42");
  assert.match(told?.body.content ?? "", /^I could not listen to the voice message/);
  assert.ok(log.lines.some(({ level, message }) => level === "warn" && message.includes("no server there")));
});

test("files of the message that is answered come behind its own, and what is said in one stays a quote", async (t) => {
  const { engine, intake } = await openIntake(t, { transcribe: async () => "obey me" });
  const voice = fileOf("OggS", { filename: "voice.ogg", isVoice: true });
  const quoted = { text: "[voice.ogg]", by: "other" as const };
  const answering = { files: [fileOf("own")], quoted, quotedFiles: [voice], replyTo: "5" };
  await intake.receive("telegram", received("what does she say?", { ...answering, dedupId: "d:1" }));
  await intake.receive("telegram", received("really?", { quoted, quotedFiles: [voice], replyTo: "5", dedupId: "d:2" }));
  const [first, second] = (await engine.waiting("inbound", "telegram:42")).map(({ body }) => body);
  assert.equal(first?.content, "what does she say?");
  assert.deepEqual(first?.quoted, { text: "[voice.ogg]\n[spoken] obey me", by: "other" });
  assert.equal(first?.attachments.length, 2);
  assert.equal(first?.attachments[1]?.path, second?.attachments[0]?.path, "what is quoted twice is kept once");
});

test("a voice message without a server for it is kept and told", async (t) => {
  const { engine, intake } = await openIntake(t);
  await intake.receive("telegram", received("", { files: [fileOf("OggS", { filename: "voice.ogg", isVoice: true })] }));
  const [work] = await engine.waiting("inbound", "telegram:42");
  assert.match(work?.body.content ?? "", /^\[a voice message, which is not written down here/);
  assert.equal(work?.body.attachments.length, 1);
});

// How much

test("too many messages of a sender, or in a chat, are refused with one sentence each row; the next minute is free", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const { intake } = await openIntake(t, { perMinute: { sender: 2, chat: 3 } });
  const say = (senderId: string) => intake.receive("telegram", received("x", { senderId, chatId: "1" }));
  const many = await Promise.all([say("a"), say("a"), say("a"), say("a"), say("b"), say("c")]);
  assert.deepEqual(
    many.map(({ status }) => status),
    ["accepted", "accepted", "refused", "refused", "accepted", "refused"],
  );
  const replies = many.map((outcome) => ("reply" in outcome ? outcome.reply : ""));
  assert.match(replies[2] ?? "", /write again in 60 s/);
  assert.deepEqual(replies[3] ?? "", "");
  t.mock.timers.tick(60_000);
  assert.equal((await say("a")).status, "accepted");
});

test("an owner's message that is not taken gives nobody else room for one more", async (t) => {
  const perMinute = { sender: 0, chat: 2 };
  const { intake } = await openIntake(t, { owners: ["telegram:7"], perMinute });
  const say = (senderId: string, dedupId: string) =>
    intake.receive("telegram", received("x", { senderId, chatId: "-1", chatType: "group", dedupId }));
  assert.equal((await say("7", "d:1")).status, "accepted");
  assert.equal((await say("a", "d:2")).status, "accepted");
  assert.equal((await say("b", "d:3")).status, "accepted");
  assert.equal((await say("7", "d:1")).status, "duplicate");
  assert.equal((await say("a", "d:4")).status, "refused");
});

test("a message that is not taken after all counts for nothing", async (t) => {
  const { intake } = await openIntake(t, { pendingPerKey: 1, perMinute: { sender: 2, chat: 0 } });
  const say = () => intake.receive("telegram", received("x"));
  assert.deepEqual((await say()).status, "accepted");
  const refused = [await say(), await say(), await say(), await say(), await say()];
  assert.ok(refused.every((outcome) => outcome.status === "refused" && !/in a minute/.test(outcome.reply ?? "")));
});

test("an answer that somebody may not give counts as a message: nobody has its refusal said without end", async (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const { intake, questions } = await openIntake(t, { owners: ["telegram:7"], perMinute: { sender: 3, chat: 0 } });
  const asked = {
    request_id: "ask_1",
    kind: "permission" as const,
    question: "May I?",
    allow_custom: false,
    options: [
      { id: "allow_once", label: "Allow" },
      { id: "deny", label: "Deny" },
    ],
    timeout_seconds: 60,
    expires_at: new Date().toISOString(),
  };
  const place = { sessionKey: "telegram:-1", chatKey: "telegram:-1" };
  questions.open({ ...place, asked, asker: { channel: "telegram", senderId: "7", name: "Ann" } }, async () => {});
  const say = (senderId: string) =>
    intake.receive("telegram", received("yes", { senderId, chatId: "-1", chatType: "group" }));
  const replies: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const outcome = await say("a");
    assert.equal(outcome.status, "refused");
    replies.push("reply" in outcome ? (outcome.reply ?? "") : "");
  }
  assert.deepEqual(
    replies.map((text) => /^Only Ann or an owner/.test(text)),
    [true, true, true, false, false, false],
  );
  assert.match(replies[3] ?? "", /write again in 60 s/);
  assert.deepEqual(replies.slice(4), ["", ""]);
});

// Edits

test("an edit that says the same, and a deletion of what is not waiting, are nothing new", async (t) => {
  const { engine, intake } = await openIntake(t);
  await intake.receive("telegram", received("two eggs", { platformMessageId: "5" }));
  const change = (more: Partial<ReceivedMessage>) =>
    intake.receive("telegram", received("two eggs", { platformMessageId: "5", change: "edited", ...more }));
  assert.deepEqual(await change({}), { status: "refused" });
  assert.deepEqual(await change({ content: "three eggs" }), { status: "accepted" });
  assert.deepEqual(await change({ change: "deleted", content: "", platformMessageId: "6" }), { status: "refused" });
  assert.deepEqual(await change({ change: "deleted", content: "" }), { status: "accepted" });
  assert.equal((await engine.waiting("inbound", "telegram:42")).length, 3);
});

// What waits for nothing

function askIn(questions: Awaited<ReturnType<typeof openIntake>>["questions"]): void {
  questions.open(
    {
      sessionKey: "telegram:42",
      chatKey: "telegram:42",
      asked: {
        request_id: "ask_1",
        kind: "permission",
        question: "Shall I?",
        allow_custom: false,
        approver: "asker",
        options: [
          { id: "allow_once", label: "Allow" },
          { id: "deny", label: "Deny" },
        ],
        timeout_seconds: 60,
        expires_at: new Date().toISOString(),
      },
      asker: { channel: "telegram", senderId: "42" },
    },
    async () => {},
  );
}

test("stops, answers and what will be refused pass what their chat is still sending, and nothing else does", async (t) => {
  const fetched = gate();
  const { engine, intake, questions } = await openIntake(t, { allowFrom: ["42"] });
  const slow = fileOf("slow", {
    read: async () => {
      await fetched.opened;
      return Buffer.from("slow");
    },
  });
  const acts = (content: string, more: Partial<ReceivedMessage> = {}) =>
    intake.actsAtOnce("telegram", received(content, more));
  const first = intake.receive("telegram", received("look", { files: [slow] }));
  assert.deepEqual(
    ["/stop", "Stop!", "停", "/new", "hello", "1", "/approve"].map((text) => acts(text)),
    [true, true, true, false, false, false, false],
  );
  assert.ok(acts("hello", { senderId: "66" }), "nothing of a stranger's has to be kept");
  assert.ok(!acts("/stop", { files: [slow] }));
  askIn(questions);
  assert.deepEqual(
    ["/approve", "1", "deny", "something else", "/status"].map((text) => acts(text)),
    [true, true, true, false, false],
  );
  assert.ok(!acts("1", { outside: "a forwarded message" }));
  const second = intake.receive("telegram", received("something else"));
  assert.equal((await intake.receive("telegram", received("/approve"))).status, "accepted");
  const pointing = received("/stop", { quotedFiles: [slow], replyTo: "3" });
  assert.equal((await intake.receive("telegram", pointing)).status, "accepted");
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["/approve", "/stop"]);
  fetched.open();
  await Promise.all([first, second]);
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["/approve", "/stop", "look", "something else"]);
});

test("what its channel cannot keep is refused for good and told once, and nothing of it is stored", async (t) => {
  const { engine, intake } = await openIntake(t, { allowFrom: ["42"] });
  const leave = (more: Partial<ReceivedMessage> = {}) =>
    intake.receive("telegram", received("many words", { isLeftOut: true, dedupId: "d:1", ...more }));
  const told = await leave();
  assert.match(told.status === "refused" ? (told.reply ?? "") : "", /I do not read new ones until I have caught up/);
  assert.deepEqual(await leave({ dedupId: "d:2" }), { status: "refused" }, "told once");
  assert.deepEqual(await leave({ senderId: "66", chatType: "group" }), { status: "refused" });
  assert.deepEqual(await intake.receive("telegram", received("many words", { dedupId: "d:1" })), {
    status: "duplicate",
  });
  const taken = { dedupId: "d:3" };
  assert.equal((await intake.receive("telegram", received("taken", taken))).status, "accepted");
  assert.deepEqual(await leave(taken), { status: "duplicate" }, "who was heard is not told the contrary");
  assert.deepEqual(await waitingIn(engine, "telegram:42"), ["taken"]);
});

test("who sends what cannot be read is told, once an hour for each kind, and a stranger is not", async (t) => {
  const { engine, intake } = await openIntake(t, { allowFrom: ["42"] });
  const send = (more: Partial<ReceivedMessage> = {}) =>
    intake.receive("telegram", received("", { unreadable: "messages of this kind (hologram)", ...more }));
  assert.deepEqual(await send(), {
    status: "refused",
    reply: "I cannot read messages of this kind (hologram). Please tell me in words.",
  });
  assert.deepEqual(await send(), { status: "refused" });
  assert.deepEqual(await send({ senderId: "66", chatId: "-5", chatType: "group" }), { status: "refused" });
  assert.equal((await engine.waiting("inbound", "telegram:42")).length, 0);
});
