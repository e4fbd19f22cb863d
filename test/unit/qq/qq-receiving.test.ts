import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelError } from "../../../src/errors.js";
import { gate, until } from "../../support/engine/engine-kit.js";
import { accepted, recordPublish, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { ann, group, openQqWorld, say } from "../../support/worlds/channels/qq-world.js";

const limitMs = 10_000;

test("private chats, groups, guilds and their private messages come with who wrote what where", async () => {
  await using world = await openQqWorld();
  const { qq, gateway } = world;
  await world.start(world.open());
  qq.write({ from: ann, text: "hello", id: "m1" });
  qq.write({ from: "member", group, text: "in a group", id: "m2" });
  qq.write({ from: "1234", channel: "55", text: "in a guild", id: "m3" });
  qq.write({ from: "1234", guild: "guild-9", text: "psst", id: "m4" });
  qq.write({ from: "999", channel: "55", text: "beep", isBot: true });
  qq.gateway.dispatch("GUILD_CREATE", { id: "1" });
  qq.gateway.dispatch("C2C_MESSAGE_CREATE", { content: "nobody wrote this" });
  qq.write({ from: ann, text: "last", id: "m5" });
  await world.heard(5);
  assert.deepEqual(
    gateway.messages.map((one) => [one.chatId, one.chatType, one.senderId, one.addressed, one.content, one.dedupId]),
    [
      [ann, "dm", ann, true, "hello", "qq:102000001:m1"],
      [`group-${group}`, "group", "member", true, "in a group", "qq:102000001:m2"],
      ["channel-55", "group", "1234", true, "in a guild", "qq:102000001:m3"],
      ["1234", "dm", "1234", true, "psst", "qq:102000001:m4"],
      [ann, "dm", ann, true, "last", "qq:102000001:m5"],
    ],
  );
});

test("faces are words, what QQ has heard is the text of a spoken note, and what others wrote is marked", async () => {
  await using world = await openQqWorld();
  const { qq, gateway } = world;
  const channel = world.open();
  await world.start(channel);
  const ext = Buffer.from(JSON.stringify({ text: "呲牙" })).toString("base64");
  qq.write({ from: ann, text: `nice <faceType=1,faceId="13",ext="${ext}"> <faceType=1,faceId="1",ext="%%">` });
  const note = { filename: "note.amr", mimeType: "audio/wav", bytes: Buffer.from("RIFF"), isVoice: true };
  qq.write({ from: ann, files: [{ ...note, heard: "buy milk" }] });
  qq.write({ from: ann, files: [note] });
  qq.write({ from: ann, text: "what they said", isForwarded: true });
  qq.write({ from: ann, text: "" });
  await world.heard(5);
  const [faces, heard, unheard, forwarded, empty] = gateway.messages;
  assert.equal(faces?.content, "nice [呲牙] [emoji]");
  assert.deepEqual([heard?.content, heard?.files?.[0]?.isVoice], ["buy milk", undefined]);
  assert.deepEqual([unheard?.content, unheard?.files?.[0]?.isVoice], ["", true]);
  assert.deepEqual([unheard?.files?.[0]?.filename, unheard?.files?.[0]?.mimeType], ["note.wav", "audio/wav"]);
  assert.equal(forwarded?.outside, "a forwarded message");
  assert.equal(empty?.unreadable, "this kind of message");
});

test("a quoted message is the assistant's, the person's or another's", async () => {
  await using world = await openQqWorld();
  const { qq, gateway } = world;
  const channel = world.open();
  await world.start(channel);
  const own = qq.write({ from: "member", group, text: "the sky is blue" });
  await world.heard(1);
  await say(channel, `group-${group}`, "it is green");
  const shown = qq.chats.newest(`group-${group}`)?.id;
  const quote = (shortId: string, text: string) =>
    qq.write({ from: "member", group, quotes: { shortId, text }, text: "?" });
  quote(`REFIDX_${shown}`, "it is green");
  quote(`REFIDX_${own}`, "the sky is blue");
  quote("REFIDX_elsewhere", "it is red");
  await world.heard(4);
  assert.deepEqual(
    gateway.messages.slice(1).map(({ quoted }) => [quoted?.by, quoted?.text]),
    [
      ["assistant", "it is green"],
      ["other", "the sky is blue"],
      ["other", "it is red"],
    ],
  );
});

test("what is not durable comes again after a restart, and nothing else; heartbeats say no more than that", async () => {
  const hold = gate();
  const gateway = recordPublish(async ({ content }) => {
    if (content === "slow") await hold.opened;
    return accepted;
  });
  await using world = await openQqWorld({}, {}, gateway);
  using _freed = { [Symbol.dispose]: hold.open };
  const { qq } = world;
  qq.gateway.heartbeatMs = 10;
  const running = await world.start(world.open());
  qq.write({ from: ann, text: "one" });
  await world.heard(1);
  qq.write({ from: "C9F778FE6ADF9D1D1DBE395BF744A33A", text: "slow" });
  qq.write({ from: ann, text: "two" });
  await world.heard(3);
  const beats = qq.gateway.beats.length;
  await until("heartbeats came", () => qq.gateway.beats.length > beats + 2, limitMs);
  // READY is 1, "one" 2; "slow" is not durable.
  assert.deepEqual([...new Set(qq.gateway.beats.slice(beats + 1))], [2]);
  await until("it is stored", () => JSON.stringify(world.context.records.get("session")).includes('"seq":2'), limitMs);
  const stopped = running.stop();
  qq.write({ from: ann, text: "meanwhile" });
  hold.open();
  await stopped;
  const before = gateway.messages.length;
  // As if the process had been killed before the last of it was stored.
  const kept = world.context.records.get("session");
  await world.context.records.put("session", { ...(kept as object), seq: 2 });
  await world.start(world.open());
  await world.heard(before + 3);
  assert.deepEqual(gateway.texts().slice(before).toSorted(), ["meanwhile", "slow", "two"]);
  assert.deepEqual([qq.gateway.resumes, qq.gateway.identifies.length], [[2], 1]);
});

test("a session that QQ has forgotten begins again, and a reconnect that QQ asks for goes on", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  const running = await world.start(world.open());
  qq.gateway.askToReconnect();
  await until("it is resumed", () => qq.gateway.resumes.length === 1 && qq.gateway.sockets.length === 1, limitMs);
  qq.write({ from: ann, text: "one" });
  await world.heard(1);
  qq.gateway.closeWith(4009);
  await until("it is resumed", () => qq.gateway.resumes.length === 2 && qq.gateway.sockets.length === 1, limitMs);
  qq.gateway.forgetSessions();
  for (const socket of qq.server.sockets) socket.terminate();
  await until("it has logged in again", () => qq.gateway.identifies.length === 2, limitMs);
  qq.write({ from: ann, text: "two" });
  await world.heard(2);
  assert.deepEqual(world.gateway.texts(), ["one", "two"]);
  assert.ok(running.connections() > 1);
});

test("a bot without some rights asks for less; one without any is told which there are", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  qq.gateway.allowedIntents = 1 << 25;
  await world.start(world.open());
  assert.equal(qq.gateway.identifies.at(-1), 1 << 25);
  qq.gateway.allowedIntents = 0;
  qq.gateway.forgetSessions();
  const none = startChannel(world.open(), world.gateway.publish);
  const failure = await none.ended;
  assert.ok(failure instanceof ChannelError && !failure.retryable);
  assert.match(failure.message, /1<<25.*1<<30/);
});

test("a ban ends the run for good; a server that is not QQ's gateway, and frames that nobody knows, do not", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  const running = await world.start(world.open());
  qq.gateway.sendRaw('{"op":77}');
  qq.gateway.sendRaw('{"op":0,"s":9,"t":"SOMETHING_NEW","d":null}');
  qq.write({ from: ann, text: "still there" });
  await world.heard(1);
  qq.gateway.sendRaw("not json");
  await until("it is back", () => qq.gateway.resumes.length === 1 && qq.gateway.sockets.length === 1, limitMs);
  qq.gateway.closeWith(4915);
  const failure = await running.ended;
  assert.ok(failure instanceof ChannelError && !failure.retryable);
  assert.match(failure.message, /banned/);
});

test("a login that QQ does not take is tried later each time, and a connection without answers is cut", async () => {
  await using world = await openQqWorld();
  const { qq } = world;
  qq.gateway.refusesLogins = true;
  const refused = startChannel(world.open({ limits: { reconnectMs: 0 } }), world.gateway.publish);
  const failure = await refused.ended;
  assert.ok(failure instanceof ChannelError && failure.retryable && (failure.retryAfterMs ?? 0) >= 1000);
  assert.equal(refused.connections(), 0);
  qq.gateway.refusesLogins = false;
  qq.gateway.isMute = true;
  const silent = await world.start(world.open({ limits: { silentMs: 60, reconnectMs: 0 } }));
  const silence = await silent.ended;
  assert.ok(silence instanceof ChannelError && silence.retryable);
  assert.match(silence.message, /Nothing was heard/);
});

test("nothing is kept of people who are not listened to", async () => {
  const gateway = recordPublish(() => ({ status: "refused", reply: "Your code is ABCD." }));
  await using world = await openQqWorld({ mayBegin: false }, {}, gateway);
  await world.start(world.open());
  world.qq.write({ from: ann, text: "let me in" });
  await until("they are told", () => world.qq.chats.showings(ann).length === 1, limitMs);
  assert.deepEqual(
    world.context.records.list().map(({ id }) => id),
    ["session"],
  );
});
