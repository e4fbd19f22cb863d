import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ChannelContext, ChannelRecords } from "../../../src/channels/channel.js";
import { KnownChats } from "../../../src/channels/discord/chats.js";
import { createDiscordChannel, type DiscordOptions } from "../../../src/channels/discord/discord.js";
import { ChannelError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { type FakeDiscord, sendCall, startFakeDiscord } from "../../support/fakes/fake-discord.js";
import { keepLog } from "../../support/log.js";
import {
  accepted,
  failureOf,
  never,
  recordPublish,
  reply,
  startChannel,
} from "../../support/worlds/channels/channel-kit.js";

const ann = { id: "100000000000000042", username: "ann" };
const bob = { id: "100000000000000043", username: "bob", global_name: "Bob B." };

function channelOf(discord: FakeDiscord, options: Partial<DiscordOptions> = {}, context: Partial<ChannelContext> = {}) {
  return createDiscordChannel(
    { token: discord.token, apiRoot: discord.url, identifyGapMs: 0, busyRetryMs: 20, log: silentLog, ...options },
    { cursor: async () => undefined, sendTimeoutMs: 2000, ...context },
  );
}

function keepRecords(): ChannelRecords {
  const kept = new Map<string, unknown>();
  return {
    get: (id) => kept.get(id),
    put: async (id, value) => void kept.set(id, structuredClone(value)),
    delete: async (id) => void kept.delete(id),
    list: () => [...kept].map(([id, value]) => ({ id, value })),
  };
}

// Sending

test("the same message is shown once while Discord knows its nonce, and found in the channel when it does not", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const channel = channelOf(discord);
  const message = reply(ann.id, "It is **done**.", { id: "out_9#1" });
  const since = Date.now();
  discord.failNext(sendCall, { kind: "cut", carriedOut: true });
  // The person is asked for first, and that attempt shows nothing.
  discord.dmOf(ann.id);
  await channel.send(reply(ann.id, "hello", { id: "out_8#1" }), never).catch(() => undefined);
  const first = await channel.send(message, never);
  assert.deepEqual(await channel.send(message, never), first);
  discord.nonceMs = 0;
  const later = channelOf(discord);
  assert.deepEqual(await later.find?.(message, since, never), first);
  assert.equal(await later.find?.(reply(ann.id, "It is **not** done.", { id: "out_9#2" }), since, never), undefined);
  assert.equal(await later.find?.(message, Date.now() + 60_000, never), undefined, "an older one with these words");
  assert.equal(discord.sent.filter(({ content }) => content.includes("done")).length, 1);
});

test("a preview that a kill has left behind gets the final text, also when it is not there any more", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const hall = discord.addChannel();
  const before = await channelOf(discord).send(reply(hall, "It gr"), never);
  assert.deepEqual(await channelOf(discord).send(reply(hall, "It grows."), never), before);
  assert.deepEqual(
    discord.messagesIn(hall).map(({ content }) => content),
    ["It grows."],
  );
  discord.removeMessage(before.platformMessageId);
  const anew = await channelOf(discord).send(reply(hall, "It grows on."), never);
  assert.notDeepEqual(anew, before);
  assert.deepEqual(
    discord.messagesIn(hall).map(({ content }) => content),
    ["It grows on."],
  );
});

test("a file goes with its name and bytes, and one that is gone is refused", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-discord-"));
  const path = join(folder, "a.txt");
  await writeFile(path, "made here");
  const attachments = [{ path, filename: "a.txt", mimeType: "text/plain", sizeBytes: 9 }];
  const channel = channelOf(discord);
  await channel.send(reply(discord.addChannel(), "", { attachments }), never);
  assert.deepEqual(
    discord.sent[0]?.files.map(({ filename, bytes }) => [filename, bytes.toString()]),
    [["a.txt", "made here"]],
  );
  await rm(folder, { recursive: true });
  const failure = await failureOf(channel.send(reply(discord.addChannel(), "", { attachments }), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
});

// The connection

test("the token is refused for good, and a dead connection is noticed by its heartbeats and resumed", async () => {
  await using discord = await startFakeDiscord({ token: "t", heartbeatMs: 150 });
  await using refused = startChannel(channelOf(discord, { token: "wrong" }), recordPublish().publish);
  const failure = await refused.ended;
  assert.ok(failure instanceof ChannelError && !failure.retryable);
  assert.match(failure.message, /channels\.discord\.token/);

  const gateway = recordPublish();
  await using running = startChannel(channelOf(discord), gateway.publish);
  await until("heartbeats are proofs of life", () => running.connections() > 2);
  assert.equal(discord.gateway.intents, 1 + 512 + 4096 + 32_768);
  discord.gateway.isMute = true;
  await until("it has resumed", () => discord.gateway.resumes.length > 0, 10_000);
  discord.gateway.isMute = false;
  discord.write({ channelId: discord.dmOf(ann.id), author: ann, content: "still there?" });
  await until("it is heard", () => gateway.texts().includes("still there?"));
});

test("when Discord asks to reconnect, the session goes on where it was", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const gateway = recordPublish();
  await using running = startChannel(channelOf(discord), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(ann.id);
  discord.gateway.askToReconnect();
  discord.write({ channelId: dm, author: ann, content: "meanwhile" });
  await until("it is heard", () => gateway.texts().includes("meanwhile"), 10_000);
  assert.deepEqual([discord.gateway.identifies.length, gateway.messages.length], [1, 1]);
});

// Receiving

test("edits, deletions, forwards, stickers and what nobody has written are told apart", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const gateway = recordPublish();
  await using running = startChannel(channelOf(discord), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(bob.id);
  const first = discord.write({ channelId: dm, author: bob, content: "two eggs" });
  discord.gateway.dispatch("MESSAGE_UPDATE", {
    id: first.id,
    channel_id: dm,
    author: bob,
    content: "two eggs",
    embeds: [],
  });
  discord.editAs(first.id, "three eggs");
  discord.deleteAs(first.id);
  discord.write({ channelId: dm, author: bob, extra: { sticker_items: [{ id: "1", name: "wave" }] } });
  discord.write({ channelId: dm, author: bob, extra: { type: 6 }, content: "pinned" });
  discord.write({ channelId: dm, author: bob, extra: { webhook_id: "5" }, content: "hook" });
  const forward = {
    message_reference: { type: 1, message_id: "7" },
    message_snapshots: [{ message: { content: "psst" } }],
  };
  discord.write({ channelId: dm, author: bob, extra: forward });
  await until("all came", () => gateway.messages.length === 5);
  assert.deepEqual(
    gateway.messages.map(({ content, change, unreadable, outside }) => [content, change, unreadable, outside]),
    [
      ["two eggs", undefined, undefined, undefined],
      ["three eggs", "edited", undefined, undefined],
      ["", "deleted", undefined, undefined],
      ["", undefined, "stickers", undefined],
      ["[forwarded]\npsst", undefined, undefined, "a forwarded message"],
    ],
  );
  for (const { senderId, senderName, chatId } of gateway.messages)
    assert.deepEqual([senderId, senderName, chatId], [bob.id, "Bob B.", bob.id]);
});

test("after a restart with a new place only what was not settled is read again, in order and before what is new", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const records = keepRecords();
  const cursors = new Map<string, string>();
  const context = { records, cursor: async (name: string) => cursors.get(name) };
  const take = () =>
    recordPublish(({ cursor, content }) => {
      if (content === "too much") return { status: "refused" };
      if (cursor !== undefined) cursors.set(cursor.name, cursor.value);
      return { status: "accepted" };
    });
  const dm = discord.dmOf(ann.id);
  const stranger = discord.dmOf(bob.id);
  const say = (content: string) => discord.write({ channelId: dm, author: ann, content });
  const first = take();
  const running = startChannel(channelOf(discord, {}, context), first.publish);
  await until("it is connected", () => running.connections() > 0);
  for (const text of ["one", "two", "too much"]) say(text);
  discord.write({ channelId: stranger, author: bob, content: "too much" });
  await until("all came", () => first.messages.length === 4);
  await running.stop();
  discord.gateway.forgetSessions();
  say("three");
  discord.write({ channelId: stranger, author: bob, content: "nobody knows me" });
  const second = take();
  const held = gate();
  const blocked: typeof second.publish = async (message) => {
    await held.opened;
    return await second.publish(message);
  };
  await using again = startChannel(channelOf(discord, {}, context), blocked);
  await until("it is connected", () => again.connections() > 0);
  say("four");
  held.open();
  await until("both came", () => second.messages.length >= 2);
  assert.deepEqual(second.texts(), ["three", "four"]);
});

test("a history that cannot be read at once is asked for again, and nothing newer overtakes it", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const context = { records: keepRecords() };
  const first = recordPublish();
  const running = startChannel(channelOf(discord, {}, context), first.publish);
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(ann.id);
  discord.write({ channelId: dm, author: ann, content: "one" });
  await until("it came", () => first.messages.length === 1);
  await running.stop();
  discord.gateway.forgetSessions();
  discord.write({ channelId: dm, author: ann, content: "two" });
  const history = /^GET \/channels\/\d+\/messages$/;
  discord.failNext(history, { kind: "answer", status: 500 });
  discord.failNext(history, { kind: "answer", status: 429, retryAfter: 1 });
  const second = recordPublish();
  await using again = startChannel(channelOf(discord, {}, context), second.publish);
  await until("it is connected", () => again.connections() > 0);
  discord.write({ channelId: dm, author: ann, content: "three" });
  await until("all came", () => second.texts().includes("three"), 10_000);
  assert.deepEqual(
    second.texts().filter((text) => text !== "one"),
    ["two", "three"],
  );
});

test("an interaction is answered in time while its chat is stuck", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const held = gate();
  const gateway = recordPublish(async ({ content }) => {
    if (content === "stuck") await held.opened;
    return { status: "accepted" };
  });
  await using running = startChannel(channelOf(discord), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(ann.id);
  discord.write({ channelId: dm, author: ann, content: "stuck" });
  await until("it came", () => gateway.messages.length === 1);
  discord.command(dm, "model", ann, "fast");
  try {
    await until("Discord was told to wait", () => discord.countCalls(/callback$/) === 1);
  } finally {
    held.open();
  }
  await until("the word came", () => discord.interactionReplies.length === 1);
  assert.equal(discord.interactionReplies[0]?.wasDeferred, true);
  assert.equal(gateway.texts().at(-1), "/model fast");
});

test("a stop, written or as a command, passes a slow file of its chat, and the position stays before that", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const held = gate();
  const gateway = recordPublish(async ({ content }) => {
    if (content === "slow") await held.opened;
    return accepted;
  });
  const actsAtOnce: ChannelContext["actsAtOnce"] = ({ content }) => content === "/stop";
  await using running = startChannel(channelOf(discord, {}, { actsAtOnce }), gateway.publish);
  using _freed = { [Symbol.dispose]: held.open };
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(ann.id);
  discord.write({ channelId: dm, author: ann, content: "slow" });
  await until("it came", () => gateway.messages.length === 1);
  discord.write({ channelId: dm, author: ann, content: "/stop" });
  await until("it is stopped", () => gateway.messages.length === 2);
  discord.command(dm, "stop", ann);
  await until("it is stopped again", () => gateway.messages.length === 3);
  assert.deepEqual(gateway.texts(), ["slow", "/stop", "/stop"]);
  assert.equal(gateway.messages[1]?.cursor, undefined);
  assert.notEqual(gateway.messages[0]?.cursor, undefined);
});

test("a message that is not as documented is told to its sender and named in the log", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const gateway = recordPublish(({ unreadable }) =>
    unreadable === undefined ? accepted : { status: "refused", reply: `I cannot read ${unreadable}.` },
  );
  const log = keepLog();
  await using running = startChannel(channelOf(discord, { log }), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const dm = discord.dmOf(ann.id);
  discord.write({ channelId: dm, author: ann, content: "look", extra: { attachments: [{ hologram: 1 }] } });
  await until("they are told", () => discord.sent.length === 1);
  assert.match(
    discord.sent[0]?.content ?? "",
    /^I cannot read this message, because Discord sent it in an unknown form/,
  );
  assert.ok(log.lines.some(({ level, message }) => level === "warn" && message.includes("attachments")));
});

test("a mention of the role that Discord made for the bot counts as one of the bot, also in what was missed", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const context = { records: keepRecords() };
  const hall = discord.addChannel();
  const say = (content: string) => discord.write({ channelId: hall, author: ann, content });
  const first = recordPublish();
  const running = startChannel(channelOf(discord, {}, context), first.publish);
  await until("it is connected", () => running.connections() > 0);
  say(`<@&${discord.otherRole}> not for you`);
  say(`<@&${discord.botRole}> for you`);
  await until("it came", () => first.messages.length === 1);
  await running.stop();
  discord.gateway.forgetSessions();
  discord.gateway.tellsOfServers = false;
  say(`<@&${discord.otherRole}> not this either`);
  say(`and this, <@&${discord.botRole}>`);
  const second = recordPublish();
  await using _again = startChannel(channelOf(discord, {}, context), second.publish);
  await until("it came", () => second.texts().includes("and this,"));
  assert.deepEqual(
    [...first.texts(), ...second.texts().filter((text) => text !== "for you")],
    ["for you", "and this,"],
  );
});

test("files of the message that is replied to come along, as somebody else's where they are", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const gateway = recordPublish();
  await using running = startChannel(channelOf(discord), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  const hall = discord.addChannel();
  const files = [{ filename: "plan.pdf", bytes: Buffer.from("the plan"), mimeType: "application/pdf" }];
  const original = { id: "7", content: "", author: bob, files };
  const asked = discord.write({
    channelId: hall,
    author: ann,
    content: `<@${discord.bot.id}> sum this up`,
    replyTo: original,
    files: [{ filename: "mine.txt", bytes: Buffer.from("mine") }],
  });
  await until("it came", () => gateway.messages.length === 1);
  const [message] = gateway.messages;
  assert.deepEqual(message?.quoted, { text: "[plan.pdf]", by: "other", name: "Bob B." });
  const names = [message?.files, message?.quotedFiles].map((files) => files?.map(({ filename }) => filename));
  assert.deepEqual(names, [["mine.txt"], ["plan.pdf"]]);
  assert.equal(String(await message?.quotedFiles?.[0]?.read(100, never)), "the plan");
  discord.editAs(asked.id, `<@${discord.bot.id}> sum this up in one line`);
  await until("the edit came", () => gateway.messages.length === 2);
  assert.deepEqual([gateway.messages[1]?.change, gateway.messages[1]?.quotedFiles], ["edited", undefined]);
});

test("of channels that are gone or closed to the bot the one is forgotten, and none keeps the others waiting", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  const context = { records: keepRecords() };
  const [gone, closed, open] = [discord.addChannel(), discord.addChannel(), discord.addChannel()];
  const say = (channelId: string, text: string) =>
    discord.write({ channelId, author: ann, content: `<@${discord.bot.id}> ${text}` });
  const first = recordPublish();
  const running = startChannel(channelOf(discord, {}, context), first.publish);
  await until("it is connected", () => running.connections() > 0);
  for (const channelId of [gone, closed, open]) say(channelId, "one");
  await until("all came", () => first.messages.length === 3);
  await running.stop();
  discord.removeChannel(gone);
  say(open, "two");
  for (const round of [1, 2]) {
    discord.gateway.forgetSessions();
    discord.failNext(new RegExp(`^GET /channels/${closed}/messages$`), { kind: "answer", status: 403, code: 50_001 });
    const next = recordPublish();
    const again = startChannel(channelOf(discord, {}, context), next.publish);
    await until("the open one is read", () => next.texts().includes("two"));
    const asked = () => [gone, closed].map((id) => discord.countCalls(new RegExp(`^GET /channels/${id}/messages$`)));
    await until("all were asked for", () => asked().join() === `1,${round}`);
    await until("the one is forgotten", () => context.records.list().every(({ id }) => !id.endsWith(gone)));
    await again.stop();
  }
});

test("commands that cannot be registered at once are registered later, and one that finds no room is offered again", async () => {
  await using discord = await startFakeDiscord({ token: "t" });
  discord.failNext(/^PUT .*\/commands$/, { kind: "answer", status: 500 });
  const gateway = recordPublish((_message, nth) => (nth < 3 ? { status: "busy", reply: "Busy." } : accepted));
  const commands = [{ command: "status", description: "how things are" }];
  await using running = startChannel(channelOf(discord, { commands }), gateway.publish);
  await until("it is connected", () => running.connections() > 0);
  discord.command(discord.dmOf(ann.id), "status", ann);
  await until("it is answered", () => discord.interactionReplies.length === 1);
  assert.deepEqual([discord.interactionReplies[0]?.text, gateway.messages.length], ["`/status`", 3]);
  await until("they are registered", () => discord.commands.length === 1);
  assert.deepEqual(discord.commands[0]?.contexts, [0, 1], "not in what two other people write to each other");
  const between = { id: "9", application_id: "1", token: "x", type: 2, channel_id: "5", context: 2, user: bob };
  discord.gateway.dispatch("INTERACTION_CREATE", { ...between, data: { name: "status" } });
  discord.command(discord.dmOf(ann.id), "status", ann);
  await until("the next one is answered", () => discord.interactionReplies.length === 2);
  assert.ok(gateway.messages.every(({ senderId }) => senderId === ann.id));
});

test("where somebody spoke last is read first: of two positions of a channel the newer one counts", async () => {
  const records = keepRecords();
  for (const [id, after] of Object.entries({ "1:11": "900", "1:12": "1000", "1:13": "5" }))
    await records.put(id, { after });
  const cursor = async (name: string) => (name === "discord:1:13" ? "10000" : undefined);
  const chats = await KnownChats.open("1", { records, cursor });
  assert.deepEqual(chats.newestFirst(), ["13", "12", "11"]);
});
