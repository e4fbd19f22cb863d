import assert from "node:assert/strict";
import { StorageError } from "../../../src/errors.js";
import { recordKey } from "../../../src/sessions/storage/keys.js";
import { recordsFor, save, scan } from "./records.js";
import { type StorageTest, storageTest } from "./storage-test.js";

/** Deletions, changes side by side, and the end. */
export const changingTests: readonly StorageTest[] = [
  storageTest("deletes what is there, and minds nothing that is not", async (storage) => {
    await save(storage, "webui:a", "webui:b");
    const gone = recordsFor("webui:a").map(({ key }) => ({ key, value: undefined }));
    await storage.change(gone);
    await storage.change(gone);
    for (const { key } of gone) assert.equal(await storage.get(key), undefined);
    assert.deepEqual(await scan(storage, ""), ["messages:webui:b", "sessions:webui:b"]);
    assert.deepEqual(await scan(storage, "idx:sessions:channel:"), ["idx:sessions:channel:webui:webui:b"]);
    await storage.delete("sessions:webui:never");
  }),
  storageTest("takes changes of many sessions at once", async (storage) => {
    const keys = Array.from({ length: 20 }, (_, n) => `webui:${n}`);
    await Promise.all(keys.map((key) => storage.change(recordsFor(key, "first"))));
    await Promise.all(keys.map((key, n) => storage.change(n % 2 === 0 ? recordsFor(key, "second") : [])));
    const lines = await storage.getMany(keys.map((key) => recordKey("line", key)));
    assert.deepEqual(
      lines.map((line) => Reflect.get(line ?? {}, "lastMessage")),
      keys.map((_, n) => (n % 2 === 0 ? "second" : "first")),
    );
  }),
  storageTest("has everything when it is opened again, unless it says otherwise", async (storage, { side, space }) => {
    await save(storage, "webui:a", "telegram:-100:7");
    await storage.change(recordsFor("webui:b").map(({ key }) => ({ key, value: undefined })));
    await storage[Symbol.asyncDispose]();
    await using again = await side.open(space);
    const found = await again.getMany(recordsFor("telegram:-100:7").map(({ key }) => key));
    const expected = recordsFor("telegram:-100:7").map(({ value }) => (side.isLasting ? value : undefined));
    assert.deepEqual(found, expected);
    assert.equal((await again.keys("idx:sessions:channel:")).length, side.isLasting ? 2 : 0);
  }),
  storageTest("refuses by name once it is closed, and may be closed twice", async (storage) => {
    await storage[Symbol.asyncDispose]();
    await assert.rejects(storage.get("sessions:webui:a"), StorageError);
    await assert.rejects(storage.set("sessions:webui:a", { key: "webui:a", metadata: {} }), StorageError);
    await assert.rejects(storage.keys("sessions:"), /closed/);
    await storage[Symbol.asyncDispose]();
  }),
];
