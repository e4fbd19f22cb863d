import assert from "node:assert/strict";
import { test } from "node:test";
import { gate, until } from "../../support/engine/engine-kit.js";
import { openSlackWorld } from "./slack-kit.js";

const channel = "CTEAM";

test("an event is confirmed once its message is durable, and a repeat meanwhile is not taken twice", async () => {
  const hold = gate();
  await using world = await openSlackWorld({
    answer: async () => {
      await hold.opened;
      return { status: "accepted" };
    },
  });
  const { slack, gateway } = world;
  await using _running = await world.run();
  using _freed = { [Symbol.dispose]: hold.open };
  slack.write({ channel: slack.directOf("UANN"), user: "UANN", text: "hello" });
  await world.came("hello");
  assert.deepEqual(slack.sockets.acks, []);
  slack.sockets.tellAgain();
  hold.open();
  await until("it is confirmed", () => slack.sockets.acks.length === 1 && slack.sockets.unacknowledged === 0);
  assert.deepEqual(gateway.texts(), ["hello"]);
});

test("a message that is not stored when the run ends is not confirmed, and comes again", async () => {
  let isFull = true;
  await using world = await openSlackWorld({
    answer: () => (isFull ? { status: "busy", reply: "" } : { status: "accepted" }),
  });
  const { slack } = world;
  const first = await world.run();
  slack.write({ channel: slack.directOf("UANN"), user: "UANN", text: "hello" });
  await world.came("hello");
  await first[Symbol.asyncDispose]();
  assert.deepEqual(slack.sockets.acks, []);
  isFull = false;
  await using _second = await world.run();
  await until("it is confirmed", () => slack.sockets.acks.length === 1);
});

test("a mention is answered in a thread below it, where nobody has to mention the bot again", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  slack.store.open(channel);
  await using _running = await world.run();
  slack.write({ channel, user: "UANN", text: "just talk" });
  const root = slack.write({ channel, user: "UANN", text: "<@UBOT> what is &lt;this&gt;? Ask <@UBOB>" });
  await world.came("what is <this>? Ask @Name of UBOB");
  slack.write({ channel, user: "UBOB", text: "and that?", thread: root });
  slack.write({ channel, user: "UBOB", text: "<@UANN> do you know?", thread: root });
  await world.came("and that?");
  const other = slack.write({ channel, user: "UANN", text: "lunch?" });
  slack.write({ channel, user: "UBOB", text: "yes", thread: other });
  slack.write({ channel, user: "UBOB", text: "<@UBOT> where?", thread: other });
  await world.came("where?");
  await until("all are settled", () => slack.sockets.unacknowledged === 0);
  assert.deepEqual(
    gateway.messages.map(({ content, thread, chatType, senderName, quoted }) => [
      content,
      thread,
      chatType,
      senderName,
      quoted?.text,
    ]),
    [
      ["what is <this>? Ask @Name of UBOB", root, "group", "Name of UANN", undefined],
      ["and that?", root, "group", "Name of UBOB", undefined],
      ["where?", other, "group", "Name of UBOB", "lunch?"],
    ],
  );
});

test("what came while it was away is read from history once and in order, in chats, channels and threads", async () => {
  await using world = await openSlackWorld();
  const { slack } = world;
  const direct = slack.directOf("UANN");
  slack.store.open(channel);
  const first = await world.run();
  const root = slack.write({ channel, user: "UANN", text: "<@UBOT> begin" });
  slack.write({ channel: direct, user: "UANN", text: "one" });
  await world.came("begin", "one");
  await until("both are settled", () => slack.sockets.unacknowledged === 0);
  await first[Symbol.asyncDispose]();
  slack.sockets.isDeaf = true;
  // More than a page.
  for (let n = 0; n < 250; n += 1) slack.write({ channel: direct, user: "UANN", text: `missed ${n}` });
  slack.write({ channel: slack.directOf("UNEW"), user: "UNEW", text: "my first words" });
  slack.write({ channel, user: "UBOB", text: "nobody's business" });
  slack.write({ channel, user: "UBOB", text: "in the thread", thread: root });
  const lunch = slack.write({ channel, user: "UBOB", text: "lunch?" });
  slack.write({ channel, user: "UANN", text: "<@UBOT> you too?", thread: lunch });
  slack.sockets.isDeaf = false;
  const second = world.again();
  await using _running = await second.run();
  slack.write({ channel: direct, user: "UANN", text: "now" });
  await second.came("now", "my first words", "in the thread", "you too?");
  const missed = Array.from({ length: 250 }, (_, n) => `missed ${n}`);
  const inDirect = second.gateway.messages.filter(({ chatId }) => chatId === direct).map(({ content }) => content);
  assert.deepEqual(inDirect, [...missed, "now"]);
  assert.equal(second.gateway.messages.length, 254);
});

test("places whose missed messages find no room hold up the reading of no other place", async () => {
  const stuck = ["UANN", "UBOB", "UCAT"];
  await using world = await openSlackWorld({
    answer: ({ content }) => ({ status: content === "no room" ? "busy" : "accepted", reply: "" }),
  });
  const { slack } = world;
  await (await world.run())[Symbol.asyncDispose]();
  slack.sockets.isDeaf = true;
  for (const user of stuck) slack.write({ channel: slack.directOf(user), user, text: "no room" });
  slack.write({ channel: slack.directOf("UDAN"), user: "UDAN", text: "missed" });
  slack.sockets.isDeaf = false;
  const second = world.again();
  await using _running = await second.run();
  await second.came("missed");
  const offered = second.gateway.messages.filter(({ content }) => content === "no room");
  assert.equal(new Set(offered.map(({ chatId }) => chatId)).size, stuck.length);
});

test("a connection that brings nothing is found by history: the gap is read, and another connection opened", async () => {
  await using world = await openSlackWorld({ spans: { lookMs: 20, graceMs: 50 } });
  const { slack, gateway } = world;
  const direct = slack.directOf("UANN");
  await using _running = await world.run();
  slack.write({ channel: direct, user: "UANN", text: "one" });
  await world.came("one");
  const opened = (): number => slack.server.calls.filter(({ name }) => name.endsWith("apps.connections.open")).length;
  const before = opened();
  slack.sockets.isDeaf = true;
  for (const text of ["two", "three"]) slack.write({ channel: direct, user: "UANN", text });
  await world.came("two", "three");
  await until("it connects again", () => opened() > before && slack.sockets.connected === 1);
  slack.sockets.isDeaf = false;
  slack.write({ channel: direct, user: "UANN", text: "four" });
  await world.came("four");
  assert.deepEqual(gateway.texts(), ["one", "two", "three", "four"]);
});

test("Slack's wish for another connection is followed, and nothing is lost by it", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  await using _running = await world.run();
  const [old] = slack.server.sockets;
  slack.sockets.disconnect("refresh_requested");
  await until("another one is open", () => slack.sockets.connected === 1 && !slack.server.sockets.has(old as never));
  slack.write({ channel: slack.directOf("UANN"), user: "UANN", text: "still there?" });
  await world.came("still there?");
  assert.equal(gateway.messages.length, 1);
});

test("what is not as documented, of another workspace, of a bot or of Slack itself is confirmed and left out", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  const direct = slack.directOf("UANN");
  await using _running = await world.run();
  const ts = "1700000000.000100";
  for (const event of [
    { type: "message", channel: direct, user: "UANN" },
    { type: "message", channel: direct, user: "UANN", ts, subtype: "channel_join", text: "has joined" },
    { type: "message", channel: direct, bot_id: "B9", user: "UOTHER", ts, text: "I am a bot" },
    { type: "message", channel: direct, subtype: "message_changed", message: { ts, user: "UANN", text: "unfurled" } },
    { type: "emoji_changed", subtype: "add" },
    "not an object",
  ])
    slack.sockets.tell("events_api", { team_id: "T1", event });
  const foreign = { type: "message", channel: "D9", user: "UANN", ts, text: "elsewhere" };
  slack.sockets.tell("events_api", { team_id: "T2", authorizations: [{ team_id: "T2" }], event: foreign });
  slack.sockets.sendRaw("not json");
  slack.sockets.sendRaw("[1]");
  await until("all are confirmed", () => slack.sockets.acks.length === 7);
  assert.deepEqual(gateway.messages, []);
});

test("a slash command is passed on as the command that it stands for, and only its person sees the word on it", async () => {
  const commands = [{ command: "stop", description: "stops" }];
  await using world = await openSlackWorld({
    context: { commands },
    answer: ({ senderId }) => (senderId === "UBOB" ? { status: "refused", reply: "Not you." } : { status: "accepted" }),
  });
  const { slack, gateway } = world;
  await using _running = await world.run();
  slack.command(channel, "UANN", "/maxclaw", "stop now");
  slack.command(channel, "UANN", "/maxclaw", "hello there");
  slack.command(channel, "UANN", "/stop", "");
  slack.command(channel, "UBOB", "/maxclaw", "stop");
  await until("all are answered", () => slack.sockets.acks.length === 4);
  assert.deepEqual(gateway.texts(), ["/stop now", "hello there", "/stop", "/stop"]);
  const words = slack.sockets.acks.map(
    ({ payload }) => payload as { readonly response_type: string; readonly text: string },
  );
  assert.ok(words.every(({ response_type }) => response_type === "ephemeral"));
  assert.deepEqual(
    words.map(({ text }) => text).sort(),
    ["Not you.", "`/stop now`", "`/stop`", "`hello there`"].sort(),
  );
});

test("files are read with the bot's token, and never from anywhere else", async () => {
  await using world = await openSlackWorld();
  const { slack, gateway } = world;
  const direct = slack.directOf("UANN");
  await using _running = await world.run();
  const bytes = Buffer.from("row 1");
  slack.write({
    channel: direct,
    user: "UANN",
    text: "sum",
    files: [{ filename: "a.csv", mimeType: "text/csv", bytes }],
  });
  await world.came("sum");
  const [file] = gateway.messages[0]?.files ?? [];
  assert.deepEqual(await file?.read(100, new AbortController().signal), bytes);
  const ts = slack.store.nextTs();
  const url = "https://evil.example/secret";
  const files = [
    { id: "F1", name: "trap.txt", mimetype: "text/plain", size: 3, url_private: url },
    { id: "F2", name: "drive.doc", mode: "external", is_external: true, url_private: "https://drive.example/1" },
    { id: "F3", name: "gone", mode: "tombstone" },
  ];
  const event = { type: "message", subtype: "file_share", channel: direct, user: "UANN", ts, text: "look", files };
  slack.sockets.tell("events_api", { team_id: "T1", event });
  await world.came("look\n[drive.doc: https://drive.example/1]");
  const traps = gateway.messages[1]?.files ?? [];
  assert.deepEqual(
    traps.map(({ filename }) => filename),
    ["trap.txt"],
  );
  await assert.rejects(async () => await traps[0]?.read(100, new AbortController().signal), /not kept by Slack/);
});
