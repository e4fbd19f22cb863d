import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ReceivedPress } from "../../../src/channels/channel.js";
import { superviseChannel } from "../../../src/channels/supervisor.js";
import { ChannelError } from "../../../src/errors.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { botId, sendCall, syncCall } from "../../support/fakes/matrix/fake-matrix.js";
import { failureOf, never, reply, startChannel } from "../../support/worlds/channels/channel-kit.js";
import { ann, bob, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

const withPassword = (matrix: { readonly password: string }) => ({
  accessToken: undefined,
  userId: botId,
  password: matrix.password,
});

test("a message whose end is unknown is shown once when it is sent again, also by another process", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const cut = { kind: "cut", carriedOut: true } as const;
  matrix.server.failNext(sendCall, cut, 2);
  for (let nth = 0; nth < 2; nth += 1)
    assert.equal((await failureOf(world.open().send(reply(room, "Once"), never))).outcome, "unknown");
  const { platformMessageId } = await world.open().send(reply(room, "Once"), never);
  await world.open().send(reply(room, "Twice", { id: "out_1#2" }), never);
  assert.deepEqual(matrix.chats.showings(room), ["Once", "Twice"]);
  assert.equal(matrix.store.find(room, platformMessageId)?.content.body, "Once");
});

test("a new login by password names the same device, so that a repeat is known after it", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const channel = world.open(withPassword(matrix));
  matrix.server.failNext(sendCall, { kind: "cut", carriedOut: true });
  await failureOf(channel.send(reply(room, "Once"), never));
  matrix.tokens.clear();
  // Of another process: the token is in the records.
  await world.open(withPassword(matrix)).send(reply(room, "Once"), never);
  assert.deepEqual(matrix.chats.showings(room), ["Once"]);
  const logins = matrix.server.calls.filter(({ name }) => name.endsWith("/login"));
  assert.equal(logins.length, 2);
  assert.equal(logins[1]?.json.device_id, [...matrix.tokens.values()][0]);
});

test("a password that is refused waits for another one, and loses no message", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const channel = world.open({ ...withPassword(matrix), password: "wrong-secret" });
  const failure = await failureOf(channel.send(reply(room, "x"), never));
  assert.deepEqual([failure.outcome, failure.retryable], ["refused", true]);
  await using running = startChannel(channel, world.gateway.publish);
  const ended = await running.ended;
  assert.ok(ended instanceof ChannelError && !ended.retryable);
  assert.match(ended.message, /channels\.matrix\.password/);
  assert.ok(!ended.message.includes("wrong-secret"));
});

test("a token that is refused for a moment does not switch the channel off", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const soft = { errcode: "M_UNKNOWN_TOKEN", error: "Token is not active", soft_logout: true };
  const states: string[] = [];
  const stop = new AbortController();
  const onState = (state: string): number => states.push(state);
  const options = { onState, log: silentLog, minDelayMs: 1 };
  const supervised = superviseChannel(world.open(), world.gateway.publish, options, stop.signal);
  await until("it is connected", () => states.includes("connected"));
  matrix.server.failNext(syncCall, { kind: "answer", status: 401, body: soft }, 2);
  matrix.write({ room, sender: ann, text: "one" });
  await until("it was refused", () => states.includes("reconnecting"));
  matrix.write({ room, sender: ann, text: "two" });
  await world.came("one", "two");
  assert.ok(!states.includes("disconnected"), states.join());
  stop.abort();
  await supervised;
});

test("a homeserver that hangs is asked again, and nothing is lost", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const channel = world.open({ spans: { pollMs: 10, graceMs: 40 } });
  const first = await world.run(channel);
  matrix.server.failNext(syncCall, { kind: "hang", carriedOut: false });
  const ended = await first.ended;
  assert.ok(ended instanceof ChannelError && ended.retryable);
  matrix.write({ room, sender: ann, text: "meanwhile" });
  await world.run();
  await world.came("meanwhile");
});

test("answers name their thread and the message that they answer, and call nobody", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann, bob]);
  const channel = world.open();
  const contentOf = async (more: object): Promise<Record<string, unknown>> => {
    const id = `out_${JSON.stringify(more)}#1`;
    const { platformMessageId } = await channel.send(reply(room, "@room @ann:example.org", { id, ...more }), never);
    return matrix.store.find(room, platformMessageId)?.content ?? {};
  };
  const plain = await contentOf({});
  assert.deepEqual([plain["m.mentions"], plain["m.relates_to"]], [{}, undefined]);
  const to = { event_id: "$a" };
  assert.deepEqual((await contentOf({ replyTo: "$a" }))["m.relates_to"], { "m.in_reply_to": to });
  assert.deepEqual((await contentOf({ thread: "$t" }))["m.relates_to"], {
    rel_type: "m.thread",
    event_id: "$t",
    is_falling_back: true,
    "m.in_reply_to": { event_id: "$t" },
  });
  assert.deepEqual((await contentOf({ thread: "$t", replyTo: "$a" }))["m.relates_to"], {
    rel_type: "m.thread",
    event_id: "$t",
    is_falling_back: false,
    "m.in_reply_to": to,
  });
});

test("a sign below a question answers it after a restart, in its thread, and any other sign does not", async () => {
  const presses: ReceivedPress[] = [];
  await using world = await openMatrixWorld({
    context: {
      press: async (press) => {
        presses.push(press);
        return { status: "taken", text: "Yes" };
      },
    },
  });
  const { matrix } = world;
  const room = matrix.room([ann, bob]);
  const buttons = ["Yes", "No"].map((label, index) => ({ label, value: `ask:${index}` }));
  const { platformMessageId: id } = await world.open().send(reply(room, "Shall I?", { buttons, thread: "$t" }), never);
  const channel = world.open();
  await world.run(channel);
  matrix.react(room, bob, id, "👍");
  // Some clients leave out that a sign is to be shown as a picture.
  matrix.react(room, bob, id, "2\u20e3");
  await until("it is pressed", () => presses.length === 1);
  assert.deepEqual(presses, [
    {
      chatId: room,
      thread: "$t",
      chatType: "group",
      senderId: bob,
      senderName: presses[0]?.senderName,
      value: "ask:1",
    },
  ]);
  await channel.edit({ chatId: room, platformMessageId: id, content: "Shall I?\n\n✓ No" }, never);
  matrix.react(room, ann, id, "1\ufe0f\u20e3");
  matrix.write({ room, sender: ann, text: "after it", mentions: [botId] });
  await world.came("after it");
  assert.equal(presses.length, 1);
  assert.deepEqual(matrix.chats.all[0]?.buttons, []);
});

test("a question whose signs are not taken is a question all the same", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann]);
  const reaction = /\/send\/m\.reaction\//;
  const wait = { errcode: "M_LIMIT_EXCEEDED", retry_after_ms: 5 };
  matrix.server.failNext(reaction, { kind: "answer", status: 429, body: wait });
  matrix.server.failNext(reaction, { kind: "answer", status: 403, body: { errcode: "M_FORBIDDEN" } });
  const buttons = ["Yes", "No"].map((label) => ({ label, value: label }));
  await world.open().send(reply(room, "Shall I?", { buttons }), never);
  assert.equal(matrix.chats.in(room)[0]?.text, "Shall I?\n\n1\ufe0f\u20e3 Yes\n2\ufe0f\u20e3 No");
});

test("files go both ways within the homeserver's limit, and without a token to where it keeps them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-matrix-"));
  try {
    await using world = await openMatrixWorld();
    const { matrix, gateway } = world;
    const room = matrix.room([ann]);
    matrix.maxUpload = 10;
    const channel = world.open();
    await world.run(channel);
    assert.equal(channel.maxFileBytes, 10);
    const send = async (name: string, bytes: string) => {
      const path = join(folder, name);
      await writeFile(path, bytes);
      const file = { path, filename: name, mimeType: "text/plain", sizeBytes: bytes.length };
      return await channel.send(reply(room, "", { id: `out_${name}#1`, attachments: [file] }), never);
    };
    await send("ä b.txt", "small");
    assert.deepEqual(matrix.chats.in(room)[0]?.files, [{ filename: "ä b.txt", bytes: Buffer.from("small") }]);
    const failure = await failureOf(send("large.txt", "much too large"));
    assert.deepEqual([failure.outcome, failure.retryable], ["refused", false]);
    assert.match(failure.message, /larger than the homeserver allows/);
    matrix.server.failNext(/\/upload$/, { kind: "cut", carriedOut: true });
    assert.equal((await failureOf(send("cut.txt", "cut"))).outcome, "refused");

    const bytes = Buffer.alloc(2000, 7);
    matrix.write({ room, sender: ann, files: [{ filename: "a.bin", mimeType: "application/x-a", bytes }] });
    await until("it came", () => gateway.messages.length === 1, 10_000);
    const [file] = gateway.messages[0]?.files ?? [];
    assert.deepEqual([file?.filename, file?.sizeBytes], ["a.bin", 2000]);
    assert.deepEqual(Buffer.from((await file?.read(5000, never)) ?? []), bytes);
    await assert.rejects(async () => await file?.read(100, never), /larger than/);
    matrix.isOld = true;
    assert.deepEqual(Buffer.from((await file?.read(5000, never)) ?? []), bytes);
    const headers = { location: `${matrix.url}/elsewhere` };
    matrix.server.failNext(/^GET .*\/download\//, { kind: "answer", status: 307, headers });
    matrix.server.failNext(/^GET \/elsewhere$/, { kind: "answer", body: Buffer.from("from there") });
    assert.equal(Buffer.from((await file?.read(5000, never)) ?? []).toString(), "from there");
    assert.equal(matrix.server.calls.at(-1)?.headers.authorization, undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a person is written to in the direct chat with them, which is made once", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  await world.open().send(reply(ann, "Hello"), never);
  await world.open().send(reply(ann, "again", { id: "out_2#1" }), never);
  const rooms = new Set(matrix.chats.all.map(({ chatId }) => chatId));
  assert.equal(rooms.size, 1);
  assert.equal(matrix.chats.all.length, 2);
});

test("what was taken is marked as read, in its thread", async () => {
  await using world = await openMatrixWorld({
    answer: ({ content }) => ({ status: content === "no" ? "refused" : "accepted" }),
  });
  const { matrix } = world;
  const room = matrix.room([ann]);
  await world.run();
  const no = matrix.write({ room, sender: ann, text: "no" });
  const yes = matrix.write({ room, sender: ann, text: "yes" });
  const below = matrix.write({ room, sender: ann, text: "below", thread: yes });
  await until("they are marked", () => matrix.receipts.length === 2);
  assert.deepEqual(
    matrix.receipts.map(({ eventId, thread }) => [eventId, thread]).toSorted(),
    [
      [yes, "main"],
      [below, yes],
    ].toSorted(),
  );
  assert.ok(!matrix.receipts.some(({ eventId }) => eventId === no));
});
