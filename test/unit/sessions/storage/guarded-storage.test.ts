import assert from "node:assert/strict";
import { test } from "node:test";
import { StorageError } from "../../../../src/errors.js";
import { GuardedStorage } from "../../../../src/sessions/storage/guarded.js";
import { createMemoryStorage } from "../../../../src/sessions/storage/memory.js";
import { gate, until } from "../../../support/engine/engine-kit.js";

const key = "sessions:telegram:42";

test("a call without an answer fails in time, the next ones at once, and later ones are tried again", async () => {
  let isStuck = true;
  const inner = createMemoryStorage();
  let lists = 0;
  const keys = async (): Promise<readonly string[]> => {
    lists += 1;
    return [];
  };
  const storage = new GuardedStorage(
    { ...inner, name: "slow", keys, get: (each) => (isStuck ? new Promise(() => {}) : inner.get(each)) },
    { timeoutMs: 50 },
  );
  await assert.rejects(
    storage.get(key),
    (error) => error instanceof StorageError && /slow: no answer/.test(error.message),
  );
  await assert.rejects(storage.keys("sessions:"), /no answer within 0.05 s/);
  assert.equal(lists, 0, "it was not even asked");
  isStuck = false;
  await until("it is tried again", () =>
    storage.get(key).then(
      () => true,
      () => false,
    ),
  );
});

test("whatever a storage throws, now or later, is a storage error with its name", async () => {
  const fails = (): never => {
    throw new TypeError("no such table");
  };
  const storage = new GuardedStorage({ ...createMemoryStorage(), name: "sad", get: fails, change: fails });
  await assert.rejects(
    storage.get(key),
    (error) => error instanceof StorageError && error.message === "sad: no such table",
  );
  await assert.rejects(storage.change([]), StorageError);
});

test("a write that happens after its time does not stay over a newer one", async () => {
  const inner = createMemoryStorage();
  const late = gate();
  const written: string[] = [];
  let isFirst = true;
  const storage = new GuardedStorage(
    {
      ...inner,
      async change(changes) {
        if (isFirst) {
          isFirst = false;
          await late.opened;
        }
        written.push(JSON.stringify(changes[0]?.value));
        await inner.change(changes);
      },
    },
    { timeoutMs: 50 },
  );
  await assert.rejects(storage.change([{ key, value: { text: "old" } }]), /no answer/);
  const write = (): Promise<boolean> =>
    storage.change([{ key, value: { text: "new" } }]).then(
      () => true,
      () => false,
    );
  await until("the newer one is written", write);
  late.open();
  await until("the newer one is written again", () => written.length === 3);
  assert.deepEqual(written, ['{"text":"new"}', '{"text":"old"}', '{"text":"new"}']);
});
