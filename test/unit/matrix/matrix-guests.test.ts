import assert from "node:assert/strict";
import { test } from "node:test";
import { loadCrypto } from "../../../src/channels/matrix/crypto/library.js";
import { parseEvent } from "../../../src/channels/matrix/event.js";
import { Locked } from "../../../src/channels/matrix/receiving/locked.js";
import { rootKeyOf, sessionKeyOf } from "../../../src/events/session-key.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { never, reply } from "../../support/worlds/channels/channel-kit.js";
import { CryptoPerson } from "../../support/worlds/channels/matrix/crypto-person.js";
import { ann, bob, eve, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";
import { testContext } from "../../support/worlds/channels/over-fake.js";

/** Ann is the owner; Eve is a guest with rooms, and perhaps a server, of her own. */
const call = { mentions: [botId] };

test("a room cannot send its answers into another one by naming that as what has taken its place", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const own = matrix.room([ann]);
  const trap = matrix.room([eve]);
  const elsewhere = matrix.room([bob]);
  matrix.member(elsewhere, botId, "leave");
  const channel = world.open();
  await world.run(channel);
  matrix.write({ room: own, sender: ann, text: "hello" });
  await world.came("hello");
  for (const next of [own, elsewhere]) {
    const content = { body: "Replaced", replacement_room: next };
    matrix.store.add(trap, { type: "m.room.tombstone", sender: eve, state_key: "", content });
  }
  const isOut = () => matrix.store.membership(elsewhere, botId) === "leave";
  await until("the bot has left what it was led into", () => matrix.joins.includes(elsewhere) && isOut());
  matrix.write({ room: trap, sender: eve, text: "are you there?" });
  await world.came("hello", "are you there?");
  await channel.send(reply(trap, "For Eve alone"), never);
  await channel.send(reply(own, "For Ann alone", { id: "out_2" }), never);
  assert.deepEqual(
    matrix.chats.all.map(({ chatId, text }) => [chatId, text]),
    [
      [trap, "For Eve alone"],
      [own, "For Ann alone"],
    ],
  );
  assert.equal(matrix.store.membership(own, botId), "join");
});

test("only the state of the room itself says that it is encrypted or replaced", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann, eve]);
  const next = matrix.room([eve], "join", room);
  matrix.member(next, botId, "leave");
  await world.run();
  const about = { room, sender: ann, ...call };
  matrix.write({ ...about, text: "before" });
  await world.came("before");
  const algorithm = { algorithm: "m.megolm.v1.aes-sha2" };
  matrix.store.add(room, { type: "m.room.encryption", sender: eve, state_key: eve, content: algorithm });
  const replaced = { body: "Replaced", replacement_room: next };
  matrix.store.add(room, { type: "m.room.tombstone", sender: eve, state_key: eve, content: replaced });
  matrix.write({ ...about, text: "after" });
  await world.came("before", "after");
  assert.deepEqual(matrix.joins, []);
});

test("nobody takes back what another has written by naming it where the homeserver does not look", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, eve]);
  await world.run();
  const order = matrix.write({ room, sender: ann, text: "the order", ...call });
  const own = matrix.write({ room, sender: eve, text: "mine", ...call });
  await world.came("the order", "mine");
  const forge = (redacts: string | undefined, inContent: string): void => {
    const content = { redacts: inContent };
    const top = redacts === undefined ? {} : { redacts };
    matrix.store.add(room, { type: "m.room.redaction", sender: eve, content, ...top });
  };
  forge(own, order);
  forge(order, own);
  matrix.store.add(room, { type: "m.room.redaction", sender: eve, content: {} });
  matrix.remove(room, eve, own);
  await until("her own is taken back", () => gateway.messages.some(({ change }) => change === "deleted"));
  matrix.write({ room, sender: eve, text: "the end", ...call });
  await world.came("the order", "mine", "", "the end");
  assert.equal(gateway.messages[2]?.senderId, eve);
});

test("what is encrypted takes back nothing: the homeserver cannot see who may do that", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const encryption = { library: await loadCrypto(undefined) };
  const [owner, guest] = [await CryptoPerson.open(matrix, ann), await CryptoPerson.open(matrix, bob, "B")];
  const room = owner.room([ann, bob]);
  await world.run(world.open({ encryption, spans: { busyRetryMs: 10, keyWaitMs: 20 } }));
  const mention = { msgtype: "m.text", "m.mentions": { user_ids: [botId] } };
  const order = await owner.send(room, "m.room.message", { ...mention, body: "the order" });
  await world.came("the order");
  await guest.send(room, "m.room.redaction", { redacts: order });
  await guest.send(room, "m.room.tombstone", { replacement_room: "!trap:elsewhere.example" });
  await guest.send(room, "m.room.message", {
    ...mention,
    body: "* forged",
    "m.new_content": { ...mention, body: "forged" },
    "m.relates_to": { rel_type: "m.replace", event_id: order },
  });
  await guest.send(room, "m.room.message", { ...mention, body: "the end" });
  await world.came("the order", "the end");
  assert.deepEqual(
    gateway.messages.map(({ senderId }) => senderId),
    [ann, bob],
  );
  assert.deepEqual(matrix.joins, []);
});

test("a thread is what an event began: no other name of one leads into another conversation", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const room = matrix.room([ann, eve]);
  await world.run();
  const names = [
    "spawn:task_1",
    "$x:spawn:task_1",
    "$x:y:spawn:task_1:z",
    "x",
    "$a\nb",
    `$${"x".repeat(70_000)}`,
    "$a b",
  ];
  const texts = names.map((_, n) => `max: ${n}`);
  for (const [n, thread] of names.entries()) matrix.write({ room, sender: eve, text: texts[n] ?? "", thread, ...call });
  await until("all came", () => gateway.messages.length === names.length);
  const keys = gateway.messages.map(({ chatId, thread }) => sessionKeyOf("matrix", chatId, thread));
  for (const key of keys) {
    assert.ok(!key.includes(":spawn:"), key);
    assert.ok(key.length < 600 && !/\s/.test(key), key.slice(0, 100));
  }
  const made = [sessionKeyOf("x", "a", "spawn:1"), sessionKeyOf("x", "a:spawn:1"), sessionKeyOf("x", "spawn", "1")];
  for (const key of made) assert.equal(rootKeyOf(key), key, "on no channel");
  const root = matrix.write({ room, sender: ann, text: "begin", ...call });
  matrix.write({ room, sender: ann, text: "in the thread", thread: root, ...call });
  await until("the thread came", () => gateway.messages.at(-1)?.thread === root);
});

test("a sign of somebody who may not answer is refused once, however often it is put there", async () => {
  const pressed: string[] = [];
  const press = async ({ senderId }: { readonly senderId: string }) => {
    pressed.push(senderId);
    return senderId === ann
      ? { status: "taken" as const, text: "Allow" }
      : { status: "refused" as const, text: "Only Ann or an owner can answer this." };
  };
  await using world = await openMatrixWorld({ context: { press } });
  const { matrix } = world;
  const room = matrix.room([ann, bob, eve]);
  const channel = world.open();
  await world.run(channel);
  const buttons = ["Allow", "Deny"].map((label, n) => ({ label, value: `ask_1:${n}` }));
  await channel.send(reply(room, "May I?", { buttons }), never);
  await until("the signs are there", () => matrix.chats.all.at(-1)?.buttons.length === 2);
  for (let n = 0; n < 20; n += 1) matrix.press(room, eve, n % 2 === 0 ? "1️⃣" : "2️⃣");
  matrix.press(room, bob, "1️⃣");
  matrix.press(room, ann, "1️⃣");
  await until("all were pressed", () => pressed.includes(ann));
  await until("both were told", () => matrix.notices.length >= 2);
  assert.equal(matrix.notices.length, 2);
});

test("what nobody can read costs its writer three words of the bot's, and no place of other people's messages", async () => {
  const { records } = testContext();
  const told: string[] = [];
  const ended = new AbortController();
  const tell = (_room: string, eventId: string): void => void told.push(eventId);
  const locked = new Locked({ botId, records, tell, waitMs: 0, log: silentLog }, ended.signal);
  const sealed = (sender: string, n: number) => {
    const event = parseEvent({ type: "m.room.encrypted", event_id: `$${sender.slice(1, 4)}${n}`, sender, content: {} });
    assert.ok(event);
    return event;
  };
  await locked.add("!room", sealed(ann, 0));
  await until("Ann is told", () => told.length === 1);
  for (let n = 0; n < 600; n += 1) await locked.add("!room", sealed(eve, n));
  await locked.add("!room", sealed(ann, 1));
  await until("Ann is told again", () => told.includes("$ann1"));
  await until("all were looked at", () =>
    locked.all.every(({ event }) => event.event_id !== "$eve599" || isTold(locked, "$eve599")),
  );
  assert.deepEqual(told.filter((id) => id.startsWith("$eve")).length, 3);
  assert.equal(locked.size, 52);
  assert.ok(locked.all.some(({ event }) => event.event_id === "$ann0"));
  ended.abort();
  await locked.settled();
});

function isTold(locked: Locked, eventId: string): boolean {
  return locked.all.some(({ event, isTold: was }) => event.event_id === eventId && was);
}

test("a person is the whole id: not a name, a puppet, another server, or letters that look the same", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const people = [
    "@ann:example.org.evil.test",
    "@ann:evil.test",
    "@Ann:example.org",
    "@аnn:example.org", // Its first letter is Cyrillic.
    "@ann\u200b:example.org",
    "@_bridge_@ann:example.org",
  ];
  const room = matrix.room([bob, ...people]);
  for (const who of people) {
    const content = { membership: "join", displayname: ann };
    matrix.store.add(room, { type: "m.room.member", sender: who, state_key: who, content });
  }
  await world.run();
  for (const sender of people) matrix.write({ room, sender, text: `I am ${ann}`, ...call });
  await until("all came", () => gateway.messages.length === people.length);
  assert.deepEqual(
    gateway.messages.map(({ senderId }) => senderId),
    people,
  );
});

test("no word of the assistant calls everybody in a room", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const room = matrix.room([ann, bob]);
  const channel = world.open();
  const words = `@room @here ${ann} <a href="https://matrix.to/#/${bob}">Bob</a> [Bob](https://matrix.to/#/${bob})`;
  const { platformMessageId } = await channel.send(reply(room, words), never);
  await channel.edit({ chatId: room, platformMessageId, content: `${words}!` }, never);
  const sent = matrix.store.room(room)?.events.filter(({ event }) => event.sender === botId) ?? [];
  const said = sent.filter(({ event }) => event.type === "m.room.message").map(({ event }) => event.content);
  assert.equal(said.length, 2);
  for (const content of said) assert.deepEqual(content["m.mentions"], {});
  const next = said[1]?.["m.new_content"];
  assert.ok(typeof next === "object" && next !== null && "m.mentions" in next);
  assert.deepEqual(next["m.mentions"], {});
});
