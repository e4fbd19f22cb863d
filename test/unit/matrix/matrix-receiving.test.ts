import assert from "node:assert/strict";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { accepted } from "../../support/worlds/channels/channel-kit.js";
import { ann, bob, eve, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

const sinceIn = (records: { get(id: string): unknown }): unknown => records.get(`${botId}/since`);

test("the position moves only when everything before it is taken, and the rest comes again after a restart", async () => {
  const hold = gate();
  await using world = await openMatrixWorld({
    answer: async ({ content }) => {
      if (content === "stuck" && world.gateway.messages.length < 3) await hold.opened;
      return accepted;
    },
  });
  const { matrix, context } = world;
  const [stuck, other] = [matrix.room([ann]), matrix.room([bob])];
  const first = await world.run();
  await until("the rooms are known", () => sinceIn(context.records) !== undefined);
  const before = sinceIn(context.records);
  matrix.write({ room: stuck, sender: ann, text: "stuck" });
  await world.came("stuck");
  matrix.write({ room: other, sender: bob, text: "taken" });
  await world.came("stuck", "taken");
  assert.deepEqual(sinceIn(context.records), before);
  const stopping = first.stop();
  hold.open();
  await stopping;
  // As after a crash: what was in memory is gone, and what was not written.
  await context.records.put(`${botId}/since`, before);
  await world.run();
  await world.came("stuck", "taken", "stuck", "taken");
  await until("it moves", () => JSON.stringify(sinceIn(context.records)) !== JSON.stringify(before));
});

test("what a limited timeline leaves out is read from history, exactly, over several pages, before what is newer", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const [room, quiet] = [matrix.room([ann]), matrix.room([bob])];
  matrix.write({ room, sender: ann, text: "old" });
  const first = await world.run();
  await world.came("old");
  await first.stop();
  const missed = Array.from({ length: 260 }, (_, index) => `missed ${index}`);
  for (const text of missed) matrix.write({ room, sender: ann, text });
  matrix.write({ room: quiet, sender: bob, text: "elsewhere" });
  await world.run();
  await until("all came", () => world.gateway.messages.length === 262, 20_000);
  const inRoom = world.gateway.messages.filter(({ chatId }) => chatId === room).map(({ content }) => content);
  assert.deepEqual(inRoom, ["old", ...missed]);
  assert.equal(matrix.server.calls.filter(({ name }) => name.endsWith("/messages")).length, 3);
});

test("history that cannot be read now is asked for again", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  await (await world.run()).stop();
  const missed = Array.from({ length: 60 }, (_, index) => `missed ${index}`);
  for (const text of missed) matrix.write({ room, sender: ann, text });
  matrix.server.failNext(/messages$/, { kind: "answer", status: 502 });
  await world.run();
  await world.came(...missed);
});

test("at the first start only what is new is answered: not what is old, nor what the bot has had a word on", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const [room, other] = [matrix.room([ann]), matrix.room([bob])];
  const text = (body: string) => ({ msgtype: "m.text", body });
  const longAgo = Date.now() - 7_200_000;
  const message = { type: "m.room.message", sender: ann } as const;
  matrix.store.add(room, { ...message, content: text("of yesterday"), origin_server_ts: longAgo });
  matrix.write({ room, sender: ann, text: "just now" });
  matrix.write({ room: other, sender: bob, text: "answered already" });
  matrix.store.add(other, { type: "m.room.message", sender: botId, content: text("the answer") });
  matrix.write({ room: other, sender: bob, text: "and then" });
  await world.run();
  await until("both came", () => world.gateway.messages.length >= 2, 10_000);
  matrix.write({ room, sender: ann, text: "the end" });
  await until("the end came", () => world.gateway.texts().includes("the end"), 10_000);
  assert.deepEqual(world.gateway.texts().toSorted(), ["and then", "just now", "the end"]);
});

test("a homeserver that has forgotten the position is read by time, and nothing twice", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const channel = world.open();
  const first = await world.run(channel);
  matrix.write({ room, sender: ann, text: "heard" });
  await world.came("heard");
  await first.stop();
  for (let nth = 0; nth < 60; nth += 1) matrix.write({ room, sender: ann, text: `missed ${nth}` });
  matrix.forgotBefore = matrix.store.count + 1;
  matrix.write({ room, sender: ann, text: "last" });
  await world.run(channel);
  await world.came("heard", ...Array.from({ length: 60 }, (_, nth) => `missed ${nth}`), "last");
});

test("in a room the bot hears who mentions it or answers it, and knows nobody by a name", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, bob]);
  await world.run();
  const say = (text: string, more: object = {}) => matrix.write({ room, sender: ann, text, ...more });
  say("among us");
  say("called", { mentions: [botId] });
  say("max: by name in an old client");
  say("@max:example.org by id");
  say("maximal is no call");
  say("Max: for somebody else", { mentions: [bob] });
  const own = matrix.store.add(room, {
    type: "m.room.message",
    sender: botId,
    content: { msgtype: "m.text", body: "I" },
  });
  say("an answer", { answers: own.event_id });
  say("to another", { answers: say("by Ann") });
  say("for all", { mentions: [botId, bob] });
  await world.came("called", "by name in an old client", "by id", "an answer", "for all");
  assert.ok(gateway.messages.every(({ chatType, senderId }) => chatType === "group" && senderId === ann));
  assert.deepEqual(gateway.messages[3]?.quoted, { text: "I", by: "assistant", name: undefined });
  assert.equal(gateway.messages[0]?.senderName, "Name of ann");
});

test("a room with an invited third is not a direct chat, and one that all others leave is", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann]);
  await world.run();
  matrix.write({ room, sender: ann, text: "alone" });
  await world.came("alone");
  matrix.member(room, bob, "invite", ann);
  matrix.write({ room, sender: ann, text: "not for the bot" });
  matrix.write({ room, sender: ann, text: "for it", mentions: [botId] });
  await world.came("alone", "for it");
  matrix.member(room, bob, "leave");
  matrix.write({ room, sender: ann, text: "alone again" });
  await world.came("alone", "for it", "alone again");
  assert.deepEqual(
    gateway.messages.map(({ chatType }) => chatType),
    ["dm", "group", "dm"],
  );
});

test("a thread into which the bot is called is a conversation, also after a restart, and others' words in it are theirs", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, bob]);
  const first = await world.run();
  const thread = matrix.write({ room, sender: bob, text: "the plan" });
  matrix.write({ room, sender: ann, text: "not yet", thread });
  matrix.write({ room, sender: ann, text: "what now?", thread, mentions: [botId] });
  matrix.write({ room, sender: bob, text: "and then?", thread });
  matrix.write({ room, sender: bob, text: "Ann, look", thread, mentions: [ann] });
  await world.came("what now?", "and then?");
  assert.deepEqual(gateway.messages[0]?.quoted, { text: "the plan", by: "other", name: "Name of bob" });
  assert.deepEqual(
    gateway.messages.map((one) => one.thread),
    [thread, thread],
  );
  await first.stop();
  await world.run();
  matrix.write({ room, sender: bob, text: "still there?", thread });
  await world.came("what now?", "and then?", "still there?");
});

test("a thread that a person opened who is not listened to stays closed", async () => {
  await using world = await openMatrixWorld({
    answer: ({ senderId }) => ({ status: senderId === eve ? "refused" : "accepted" }),
  });
  const { matrix } = world;
  const room = matrix.room([ann, eve]);
  await world.run();
  const thread = matrix.write({ room, sender: ann, text: "ours" });
  matrix.write({ room, sender: eve, text: "bot, come", thread, mentions: [botId] });
  await world.came("bot, come");
  await until("it is forgotten", () => !world.context.records.list().some(({ id }) => id.includes("/thread/")));
  matrix.write({ room, sender: ann, text: "between us", thread });
  matrix.write({ room, sender: ann, text: "for you", mentions: [botId] });
  await world.came("bot, come", "for you");
});

test("programs and the bot itself are not answered, and unknown events harm nothing", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  await world.run();
  const add = (type: string, content: Record<string, unknown>, sender = ann) =>
    matrix.store.add(room, { type, sender, content });
  add("m.room.message", { msgtype: "m.notice", body: "from a bot" });
  add("m.room.message", { msgtype: "m.text", body: "from a bot", "org.matrix.msc1767.automated": true });
  add("m.room.message", { msgtype: "m.text", body: "mine" }, botId);
  add("org.example.unknown", { body: "what?" });
  add("m.room.message", { msgtype: "m.text" });
  add("m.room.message", { msgtype: 7, body: ["x"] });
  add("m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: "$nothing", key: "👍" } });
  add("m.room.message", { msgtype: "org.example.new", body: "a new kind with a text" });
  matrix.write({ room, sender: ann, text: "!status now" });
  await world.came("a new kind with a text", "!status now");
});

test("commands may begin with an exclamation mark, because clients keep the slash", async () => {
  const commands = [{ command: "stop", description: "Stops" }];
  await using world = await openMatrixWorld({ context: { commands } });
  const { matrix } = world;
  const room = matrix.room([ann, bob]);
  await world.run();
  matrix.write({ room, sender: ann, text: "Max: !stop now", mentions: [botId] });
  matrix.write({ room, sender: ann, text: "!stopped", mentions: [botId] });
  await world.came("/stop now", "!stopped");
});

test("an edit and a deletion name their message, also of before a restart; nobody changes another's words", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, bob]);
  const first = await world.run();
  const thread = matrix.write({ room, sender: ann, text: "begin", mentions: [botId] });
  const id = matrix.write({ room, sender: ann, text: "one", thread });
  await world.came("begin", "one");
  matrix.edit(room, bob, id, "forged");
  matrix.edit(room, ann, id, "two");
  await world.came("begin", "one", "two");
  await first.stop();
  await world.run();
  matrix.edit(room, ann, id, "three");
  await world.came("begin", "one", "two", "three");
  matrix.remove(room, ann, id);
  matrix.remove(room, ann, matrix.write({ room, sender: ann, text: "among us" }));
  matrix.write({ room, sender: ann, text: "end", thread });
  await until("the end came", () => gateway.texts().includes("end"), 10_000);
  assert.deepEqual(
    gateway.messages
      .slice(2)
      .map(({ change, platformMessageId, thread: at }) => [change, platformMessageId === id, at]),
    [
      ["edited", true, thread],
      ["edited", true, thread],
      ["deleted", true, thread],
      [undefined, false, thread],
    ],
  );
  assert.equal(new Set(gateway.messages.map(({ dedupId }) => dedupId)).size, gateway.messages.length);
});

test("events that come twice and out of order are passed on once", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann]);
  await world.run();
  const [late, early] = ["late", "early"].map((text) => matrix.write({ room, sender: ann, text }));
  await world.came("late", "early");
  const events = matrix.store.room(room)?.events ?? [];
  for (const id of [early, late, early])
    events.push({ at: matrix.store.count, event: { ...(matrix.store.find(room, id ?? "") ?? assert.fail()) } });
  matrix.write({ room, sender: ann, text: "last" });
  await world.came("late", "early", "last");
  assert.equal(gateway.messages.length, 3);
});
