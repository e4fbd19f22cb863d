import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadCrypto } from "../../../src/channels/matrix/crypto/library.js";
import { silentLog } from "../../../src/log.js";
import { until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { putAside } from "../../support/fakes/matrix/secret-storage.js";
import { never, reply } from "../../support/worlds/channels/channel-kit.js";
import { CryptoPerson, decryptedFile } from "../../support/worlds/channels/matrix/crypto-person.js";
import { ann, bob, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

const encryption = { library: await loadCrypto(undefined) };
const spans = { busyRetryMs: 10, keyWaitMs: 20 };

test("in an encrypted room the bot reads what people write, and they read what it says; the homeserver reads neither", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const channel = world.open({ encryption, spans });
  const person = await CryptoPerson.open(matrix, ann);
  const room = person.room();
  await world.run(channel);
  const asked = await person.write(room, "what is it?");
  await world.came("what is it?");
  assert.equal(gateway.messages[0]?.chatType, "dm");
  assert.equal(gateway.messages[0]?.senderId, ann);
  const { platformMessageId } = await channel.send(reply(room, "an **answer**", { replyTo: asked }), never);
  await channel.edit({ chatId: room, platformMessageId, content: "better" }, never);
  const read = await person.read(room);
  assert.deepEqual(
    read.map(({ content }) => content.body),
    ["an answer", "* better"],
  );
  assert.deepEqual(read[1]?.content["m.new_content"] !== undefined, true);
  const wire = JSON.stringify(matrix.store.room(room)?.events);
  assert.ok(!wire.includes("answer") && !wire.includes("what is it"), "something is in clear");
  // Homeservers and clients look for it outside.
  const outer = matrix.store
    .room(room)
    ?.events.filter(({ event }) => event.sender === botId && event.type === "m.room.encrypted");
  assert.deepEqual(
    outer?.map(({ event }) => event.content["m.relates_to"]),
    [{ "m.in_reply_to": { event_id: asked } }, { rel_type: "m.replace", event_id: platformMessageId }],
  );
});

test("files, edits, answers and threads work in an encrypted room", async (t) => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const channel = world.open({ encryption, spans });
  const person = await CryptoPerson.open(matrix, ann);
  const room = person.room();
  await world.run(channel);
  await person.sendFile(room, "notes.txt", Buffer.from("the notes"));
  await until("the file came", () => gateway.messages.length === 1);
  const [file] = gateway.messages[0]?.files ?? [];
  assert.equal(file?.filename, "notes.txt");
  assert.equal(Buffer.from((await file?.read(1000, never)) ?? []).toString(), "the notes");
  const first = await person.write(room, "helo");
  const edit = { "m.new_content": { msgtype: "m.text", body: "hello" } };
  await person.write(room, "* hello", { ...edit, "m.relates_to": { rel_type: "m.replace", event_id: first } });
  await person.write(room, "about it", { "m.relates_to": { "m.in_reply_to": { event_id: first } } });
  await world.came("", "helo", "hello", "about it");
  assert.equal(gateway.messages[2]?.change, "edited");
  assert.equal(gateway.messages[3]?.quoted?.text, "hello");
  await person.write(room, "in a thread", { "m.relates_to": { rel_type: "m.thread", event_id: first } });
  await until("the thread came", () => gateway.messages.at(-1)?.thread === first);
  const folder = await mkdtemp(join(tmpdir(), "maxclaw-matrix-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "answer.txt");
  await writeFile(path, "forty-two");
  const attachments = [{ path, filename: "answer.txt", mimeType: "text/plain", sizeBytes: 9 }];
  await channel.send(reply(room, "", { attachments }), never);
  const sent = (await person.read(room)).at(-1)?.content;
  const sealed = sent?.file as Parameters<typeof decryptedFile>[1] & { readonly url: string };
  assert.equal(sent?.filename, "answer.txt");
  const kept = matrix.kept(sealed.url) ?? Buffer.alloc(0);
  assert.ok(!kept.toString("latin1").includes("forty-two"), "the homeserver reads the file");
  assert.equal(decryptedFile(kept, sealed), "forty-two");
  const [upload] = matrix.server.calls.filter(({ name }) => name.endsWith("/upload") && name.includes("media"));
  assert.equal(upload?.query.get("filename"), null);
});

test("a damaged file is refused", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const person = await CryptoPerson.open(matrix, ann);
  const room = person.room();
  await world.run(world.open({ encryption, spans }));
  await person.sendFile(room, "notes.txt", Buffer.from("the notes"));
  await until("the file came", () => gateway.messages.length === 1);
  const kept = matrix.kept("mxc://example.org/0");
  kept?.writeUInt8(kept.readUInt8(0) ^ 1, 0);
  await assert.rejects(async () => await gateway.messages[0]?.files?.[0]?.read(1000, never), /damaged/);
});

test("a message whose key is late is told once, and answered when the key comes, also after a restart", async () => {
  await using world = await openMatrixWorld();
  const { matrix, gateway } = world;
  const person = await CryptoPerson.open(matrix, ann);
  const room = person.room();
  const first = await world.run(world.open({ encryption, spans }));
  await person.write(room, "one");
  await world.came("one");
  await first.stop();
  // A new session of the person's, whose key stays on its way.
  const other = await CryptoPerson.open(matrix, ann, "LAPTOP");
  await other.write(room, "two");
  const giveBack = matrix.keys.holdMail(botId, "DEVICE");
  await other.write(room, "three");
  const second = await world.run(world.open({ encryption, spans }));
  await until("it is told", async () => (await person.texts(room)).filter((text) => text.includes("key")).length === 2);
  await second.stop();
  await world.run(world.open({ encryption, spans }));
  giveBack();
  await world.came("one", "two", "three");
  await person.write(room, "four");
  await world.came("one", "two", "three", "four");
  assert.equal((await person.texts(room)).length, 2);
  assert.deepEqual(
    world.context.records.list().filter(({ id }) => id.includes("/locked/")),
    [],
  );
  assert.deepEqual(gateway.texts().length, 4);
});

test("what is in clear in an encrypted room is not answered, nor what is from another than it says", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const [person, other] = [await CryptoPerson.open(matrix, ann), await CryptoPerson.open(matrix, bob, "B")];
  const room = person.room([ann, bob]);
  await world.run(world.open({ encryption, spans }));
  matrix.write({ room, sender: ann, text: "in clear", mentions: [botId] });
  const mention = { msgtype: "m.text", "m.mentions": { user_ids: [botId] } };
  const forged = await other.seal(room, "m.room.message", { ...mention, body: "as if from ann" });
  matrix.store.add(room, { type: "m.room.encrypted", sender: ann, content: forged });
  await person.send(room, "m.room.message", { ...mention, body: "sealed" });
  await world.came("sealed");
});

test("the account vouches for the bot's device: with new keys, also behind a password", async () => {
  for (const asks of [false, true]) {
    await using world = await openMatrixWorld();
    const { matrix } = world;
    matrix.keys.asksForPassword = asks;
    const person = await CryptoPerson.open(matrix, ann);
    await world.run(world.open({ encryption, spans, ...(asks ? { password: matrix.password } : {}) }));
    assert.equal(await person.isBotVerified(), true);
  }
});

test("a token of a device whose keys another program has is refused", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  await CryptoPerson.open(matrix, botId, "DEVICE");
  const channel = world.open({ encryption, spans });
  await assert.rejects(
    channel.run(world.gateway.publish, () => undefined, never),
    /another program has, such as Element/,
  );
});

test("a direct chat that the bot begins is encrypted", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const channel = world.open({ encryption, spans });
  const person = await CryptoPerson.open(matrix, ann);
  await world.run(channel);
  await channel.send(reply(ann, "good morning"), never);
  const room = matrix.store.rooms.at(-1)?.id ?? "";
  assert.deepEqual(await person.texts(room), ["good morning"]);
});

test("a room of which nothing is known is asked about before anything goes there", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const person = await CryptoPerson.open(matrix, ann);
  const [room, open] = [person.room(), matrix.room([ann])];
  const channel = world.open({ encryption, spans });
  await channel.send(reply(room, "at once"), never);
  await channel.send(reply(open, "in clear"), never);
  assert.deepEqual(await person.texts(room), ["at once"]);
  assert.equal(matrix.newestOf(open)?.content.body, "in clear");
});

test("with the recovery key another device's keys vouch for the bot's; a wrong key is said, and the bot writes all the same", async () => {
  await using world = await openMatrixWorld();
  const { matrix } = world;
  const person = await CryptoPerson.open(matrix, ann);
  const element = await CryptoPerson.open(matrix, botId, "ELEMENT");
  const { recoveryKey, data } = putAside(await element.makeIdentity());
  for (const [type, content] of data) matrix.secrets.set(type, content);
  const warnings: string[] = [];
  const log = {
    ...silentLog,
    warn: (text: string, more?: object) => void warnings.push(`${text} ${JSON.stringify(more)}`),
  };
  const run = async (key?: string) =>
    await world.run(world.open({ encryption: { ...encryption, recoveryKey: key }, spans, log }));
  await (await run()).stop();
  assert.match(warnings.splice(0).join(), /recoveryKey/);
  const wrong = `${recoveryKey.slice(0, -1)}${recoveryKey.endsWith("2") ? "3" : "2"}`;
  await (await run(wrong)).stop();
  assert.match(warnings.splice(0).join(), /not a recovery key/);
  assert.equal(await person.isBotVerified(), false);
  const { recoveryKey: foreign } = putAside({});
  await (await run(foreign)).stop();
  assert.match(warnings.splice(0).join(), /does not fit/);
  await run(recoveryKey);
  assert.deepEqual(warnings, []);
  assert.equal(await person.isBotVerified(), true);
});
