import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Driver } from "unstorage";
import { StorageError } from "../../../../src/errors.js";
import { parseRecordKey, recordKey, recordKinds } from "../../../../src/sessions/storage/keys.js";
import { fromStoreId, isCut, toStoreId } from "../../../../src/sessions/storage/store-ids.js";
import { createUnstorage } from "../../../../src/sessions/storage/unstorage.js";
import { fuzzOptions } from "../../../support/fuzz.js";

/** A storage that counts its connections and what they are asked for. */
function countingStorage(getItem: (connection: number) => Promise<string | null>, hasDispose = true) {
  const counts = { opened: 0, asked: 0, closed: 0 };
  const open = async (): Promise<Driver> => {
    counts.opened += 1;
    const connection = counts.opened;
    const dispose = (): void => {
      counts.closed += 1;
    };
    return {
      hasItem: () => false,
      getItem() {
        counts.asked += 1;
        return getItem(connection);
      },
      getKeys: () => [],
      ...(hasDispose ? { dispose } : {}),
    };
  };
  return { open, counts };
}

const key = "sessions:webui:a";

test("calls on a storage that hangs end together, and only a few are handed to it", async () => {
  const { open, counts } = countingStorage(() => new Promise(() => {}));
  await using storage = createUnstorage({ name: "fake", open, timeoutMs: 100 });
  const calls = await Promise.allSettled(Array.from({ length: 200 }, () => storage.get(key)));
  for (const call of calls) assert.ok(call.status === "rejected" && call.reason instanceof StorageError);
  assert.ok(counts.asked <= 16, `${counts.asked} calls`);
});

test("a slow storage is given as much as it can take, whatever waits", async () => {
  let last: Promise<unknown> = Promise.resolve();
  const { open } = countingStorage(() => {
    const mine = last.then(() => new Promise((resolve) => setTimeout(resolve, 8)));
    last = mine;
    return mine.then(() => null);
  });
  await using storage = createUnstorage({ name: "fake", open, timeoutMs: 1000 });
  const calls = await Promise.all(Array.from({ length: 200 }, () => storage.get(key)));
  assert.equal(calls.length, 200);
});

test("a connection that was cut while it rested is replaced without anybody noticing", async () => {
  let isCutOff = false;
  const { open, counts } = countingStorage(async (connection) => {
    if (isCutOff && connection === 1) throw new Error("Connection is closed.");
    return '{"key":"webui:a"}';
  });
  await using storage = createUnstorage({ name: "fake", open });
  await storage.get(key);
  isCutOff = true;
  assert.deepEqual(await storage.get(key), { key: "webui:a" });
  assert.deepEqual(counts, { opened: 2, asked: 3, closed: 1 });
});

test("a driver that looks after its connection itself is kept", async () => {
  const { open, counts } = countingStorage(async () => Promise.reject(new Error("no")), false);
  await using storage = createUnstorage({ name: "fake", open });
  for (let n = 0; n < 3; n++) await assert.rejects(storage.get(key), /^StorageError: no$/);
  assert.equal(counts.opened, 1);
});

test("no password of an address is in an error, and one without a message says what was refused", async () => {
  const failing = (error: Error) => createUnstorage({ name: "fake", open: async () => Promise.reject(error) }).get(key);
  await assert.rejects(
    failing(new Error("no redis://ada:geheim@host:1")),
    /^StorageError: no redis:\/\/\*\*\*@host:1$/,
  );
  const refusals = new AggregateError([new Error("ECONNREFUSED ::1"), new Error("ECONNREFUSED 127.0.0.1")], "");
  await assert.rejects(failing(refusals), /ECONNREFUSED ::1, ECONNREFUSED 127\.0\.0\.1/);
});

test("a driver that can only be read says so", async () => {
  const { open } = countingStorage(async () => null);
  await using storage = createUnstorage({ name: "fake", open });
  await assert.rejects(storage.set(key, { key: "webui:a" }), /fake can only be read/);
});

const sessionKey = fc
  .tuple(fc.stringMatching(/^[a-z0-9-]{1,12}$/), fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }))
  .map(([channel, rest]) => `${channel}:${rest}`);

test("any record has a key that tells it, and an id that every storage takes and that leads back", (t) => {
  fc.assert(
    fc.property(sessionKey, fc.constantFrom(...recordKinds), (session, kind) => {
      const record = recordKey(kind, session);
      assert.deepEqual(parseRecordKey(record), { kind, sessionKey: session });
      const id = toStoreId(record);
      assert.match(id, /^[a-z0-9_=.~-]+(?::[a-z0-9_=~-][a-z0-9_=.~-]*)*$/);
      assert.ok(id.length <= 250 && id.split(":").length <= (id.startsWith("idx:") ? 6 : 3));
      if (!isCut(id)) assert.equal(fromStoreId(id), record);
    }),
    fuzzOptions(t, 100),
  );
});

test("different records have different ids, however alike their keys are", () => {
  const alike = [
    "a",
    "A",
    "=41",
    "%41",
    ":",
    "::",
    "a:",
    ":a",
    "a:b",
    "a/b",
    "a\\b",
    ".",
    "..",
    "~",
    "a~0123456789abcdef",
  ];
  const keys = alike.flatMap((rest) => recordKinds.map((kind) => recordKey(kind, `webui:${rest}`)));
  keys.push(...["1", "2"].map((end) => recordKey("head", `webui:${"x".repeat(400)}${end}`)));
  assert.equal(new Set(keys.map(toStoreId)).size, keys.length);
});

test("what is not a key of a session's record, or no id of ours, is not taken for one", () => {
  for (const wrong of [
    "",
    "sessions",
    "other:webui:a",
    "idx:sessions:channel:cli:webui:a",
    "idx:sessions:chat:b:webui:a",
  ])
    assert.equal(parseRecordKey(wrong), undefined, wrong);
  for (const wrong of ["", "Sessions:webui:a", "sessions:webui:=4", "sessions:webui:=61", "sessions:webui:a?", "=ff"])
    assert.equal(fromStoreId(wrong), undefined, wrong);
});
