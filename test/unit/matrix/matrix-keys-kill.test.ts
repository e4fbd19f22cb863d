import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { ChannelRecords } from "../../../src/channels/channel.js";
import { loadCrypto } from "../../../src/channels/matrix/crypto/library.js";
import { KeyStore } from "../../../src/channels/matrix/crypto/store.js";
import { until } from "../../support/engine/engine-kit.js";
import { botId } from "../../support/fakes/matrix/fake-matrix.js";
import { never, reply } from "../../support/worlds/channels/channel-kit.js";
import { CryptoPerson } from "../../support/worlds/channels/matrix/crypto-person.js";
import { ann, type MatrixWorld, openMatrixWorld } from "../../support/worlds/channels/matrix/matrix-world.js";

const encryption = { library: await loadCrypto(undefined) };
const spans = { busyRetryMs: 10, keyWaitMs: 60_000 };

/** Records as a killed process leaves them: nothing is written any more after so many writes. */
function mortal(): { readonly records: ChannelRecords; killAfter(writes: number): void; readonly isDead: boolean } {
  const kept = new Map<string, unknown>();
  const life = { left: Number.POSITIVE_INFINITY };
  const write = async (work: () => void): Promise<void> => {
    if (life.left <= 0) throw new Error("killed");
    life.left -= 1;
    work();
  };
  return {
    records: {
      get: (id) => kept.get(id),
      list: () => [...kept].map(([id, value]) => ({ id, value })),
      put: (id, value) => write(() => void kept.set(id, structuredClone(value))),
      delete: (id) => write(() => void kept.delete(id)),
    },
    killAfter: (writes) => {
      life.left = writes;
    },
    get isDead() {
      return life.left <= 0;
    },
  };
}

test("killed after any of its writes, the bot loses no message and uses no key twice", async () => {
  for (let nth = 0; ; nth += 1) {
    const life = mortal();
    await using world = await openMatrixWorld({ context: { records: life.records } });
    const { matrix, gateway } = world;
    const person = await CryptoPerson.open(matrix, ann);
    const room = person.room();
    life.killAfter(nth);
    const wrote = (await liveOnce(world, person, room)) ? ["before", "after"] : ["after"];
    const hasDied = life.isDead;
    life.killAfter(Number.POSITIVE_INFINITY);
    const next = world.open({ encryption, spans });
    await world.run(next).catch((cause: unknown) => {
      throw new Error(`It does not come back after ${nth} writes`, { cause });
    });
    await person.write(room, "after");
    const areHere = (): boolean => wrote.every((text) => gateway.texts().includes(text));
    await until(`all comes after ${nth} writes`, areHere, 30_000);
    // The homeserver shows it once, whether it was there or not.
    await next.send(reply(room, "an answer"), never);
    await next.send(reply(room, "the end", { id: "out_2" }), never);
    const read = await person.read(room);
    const texts = read.map(({ content }) => content.body);
    assert.deepEqual(texts, ["an answer", "the end"], `after ${nth} writes`);
    assertNoKeyTwice(read.map(({ event }) => event.content));
    assert.equal(new Set(matrix.keys.claimed).size, matrix.keys.claimed.length);
    if (hasDied) continue;
    assert.ok(nth >= 10, `it writes only ${nth} times`);
    break;
  }
});

/** A first life: it publishes its keys, hears a message and answers, as far as it comes. Resolves with whether somebody has written. */
async function liveOnce(world: MatrixWorld, person: CryptoPerson, room: string): Promise<boolean> {
  const { matrix, gateway } = world;
  const life = { hasEnded: false };
  const abort = new AbortController();
  const channel = world.open({ encryption, spans });
  const running = channel
    .run(gateway.publish, () => undefined, abort.signal)
    .catch(() => undefined)
    .then(() => {
      life.hasEnded = true;
    });
  await until("its keys are there", () => life.hasEnded || matrix.keys.oneTime.has(`${botId} DEVICE`), 30_000);
  const canWrite = matrix.keys.oneTime.has(`${botId} DEVICE`);
  if (canWrite) {
    await person.write(room, "before");
    await until("it came", () => life.hasEnded || gateway.texts().includes("before"), 30_000);
    await channel.send(reply(room, "an answer"), never).catch(() => undefined);
    await person.sync();
  }
  abort.abort();
  await running;
  return canWrite;
}

/** Each message of a session has a place of its own in it. */
function assertNoKeyTwice(contents: readonly Record<string, unknown>[]): void {
  const places = contents.map(({ session_id: session, ciphertext }) => {
    // The place is the number behind the first two bytes of a message. https://gitlab.matrix.org/matrix-org/olm/-/blob/master/docs/megolm.md
    const bytes = Buffer.from(String(ciphertext), "base64");
    return `${String(session)} ${bytes.readUInt8(2)}`;
  });
  assert.equal(new Set(places).size, places.length, places.join());
}

test("a store that was put back from before a message makes new keys for what it sends", async () => {
  const { records } = mortal();
  await using world = await openMatrixWorld({ context: { records } });
  const { matrix } = world;
  const person = await CryptoPerson.open(matrix, ann);
  const room = person.room();
  const first = world.open({ encryption, spans });
  const running = await world.run(first);
  await first.send(reply(room, "one", { id: "out_1" }), never);
  const backup = records.list().map(({ id, value }) => [id, structuredClone(value)] as const);
  await first.send(reply(room, "two", { id: "out_2" }), never);
  await running.stop();
  for (const { id } of records.list()) await records.delete(id);
  for (const [id, value] of backup) await records.put(id, value);
  const second = world.open({ encryption, spans });
  await world.run(second);
  await second.send(reply(room, "three", { id: "out_3" }), never);
  const read = await person.read(room);
  assert.deepEqual(
    read.map(({ content }) => content.body),
    ["one", "two", "three"],
  );
  assertNoKeyTwice(read.map(({ event }) => event.content));
});

test("a store comes back whole after each of its writes, and also after it was written anew", async () => {
  const { library } = encryption;
  const { records } = mortal();
  const options = { library, userId: botId, deviceId: "DEVICE", records };
  const store = await KeyStore.open(options);
  await store.machine.bootstrapCrossSigning(true);
  await store.flush();
  const keys = await store.machine.exportCrossSigningKeys();
  // As if far more had been written than there is.
  for (let nth = 0; nth < 80; nth += 1) {
    await store.machine.bootstrapCrossSigning(nth === 79);
    await store.machine.receiveSyncChanges("[]", new library.wasm.DeviceLists(), new Map(), new Set());
    await store.flush();
  }
  const last = await store.machine.exportCrossSigningKeys();
  assert.notEqual(last?.masterKey, keys?.masterKey);
  const ed25519 = store.machine.identityKeys.ed25519.toBase64();
  const begin = records.list().find(({ id }) => id.endsWith("/head"))?.value;
  assert.ok(Number(Reflect.get(Object(begin), "epoch")) >= 2, "it was never written anew");
  const again = await KeyStore.open(options);
  assert.equal(again.machine.identityKeys.ed25519.toBase64(), ed25519);
  assert.equal((await again.machine.exportCrossSigningKeys())?.masterKey, last?.masterKey);
});

/** The databases that are in memory. */
async function databases(): Promise<readonly string[]> {
  // As IndexedDB says.
  const factory = Reflect.get(globalThis, "indexedDB") as {
    databases(): Promise<readonly { readonly name: string }[]>;
  };
  return (await factory.databases()).map(({ name }) => name);
}

test("the keys of a store that is closed are out of memory at once, and nothing goes on waiting for it", async () => {
  const others = await databases();
  const store = await KeyStore.open({
    library: encryption.library,
    userId: botId,
    deviceId: "DEVICE",
    records: mortal().records,
  });
  await store.machine.bootstrapCrossSigning(true);
  await store.flush();
  const ours = async (): Promise<readonly string[]> => (await databases()).filter((name) => !others.includes(name));
  assert.equal((await ours()).length, 1);
  await store[Symbol.asyncDispose]();
  // A deletion that cannot end asks once in each of these. Garbage is collected later.
  for (let round = 0; round < 100; round += 1) await setImmediate();
  assert.deepEqual(await ours(), []);
});
