import assert from "node:assert/strict";
import { at, recordsFor, save, saveHeads, scan } from "./records.js";
import { type StorageTest, storageTest } from "./storage-test.js";

export const storingTests: readonly StorageTest[] = [
  storageTest("gives back what was stored, and undefined for what was not", async (storage) => {
    assert.equal(await storage.get("sessions:webui:a"), undefined);
    for (const { key, value } of recordsFor("webui:a")) {
      await storage.set(key, value ?? {});
      assert.deepEqual(await storage.get(key), value);
    }
    assert.equal(await storage.get("messages:webui:b"), undefined);
  }),
  storageTest("puts a record in place of the one before", async (storage) => {
    await storage.change(recordsFor("webui:a", "long ".repeat(1000)));
    await storage.change(recordsFor("webui:a", "short", 2));
    for (const { key, value } of recordsFor("webui:a", "short", 2)) assert.deepEqual(await storage.get(key), value);
    assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a"]);
  }),
  storageTest("changes the head without the messages, and the messages without the head", async (storage) => {
    const [messages, head] = recordsFor("webui:a");
    const [newMessages, newHead] = recordsFor("webui:a", "new");
    await save(storage, "webui:a");
    await storage.set(newHead?.key ?? "", newHead?.value ?? {});
    assert.deepEqual(await storage.get("messages:webui:a"), messages?.value);
    await storage.set(newMessages?.key ?? "", newMessages?.value ?? {});
    await storage.set(head?.key ?? "", head?.value ?? {});
    assert.deepEqual(await storage.get("messages:webui:a"), newMessages?.value);
    assert.deepEqual(await storage.get("sessions:webui:a"), head?.value);
    await storage.delete("messages:webui:a");
    assert.equal(await storage.get("messages:webui:a"), undefined);
    assert.deepEqual(await storage.get("sessions:webui:a"), head?.value);
  }),
  storageTest("keeps any text that JSON can hold, and large documents", async (storage) => {
    const texts = [
      "",
      "' \" \\ ` ; -- %s $x \n\r\t",
      "\u0000\u001f\u007f\u2028",
      "żółć 你好 👩‍👩‍👧 \u{10ffff}",
      "<script>&amp;",
      "x".repeat(1_500_000),
    ];
    for (const text of texts) {
      await storage.change(recordsFor("webui:a", text));
      const found = await storage.getMany(recordsFor("webui:a").map(({ key }) => key));
      assert.deepEqual(
        found,
        recordsFor("webui:a", text).map(({ value }) => value),
      );
    }
  }),
  storageTest("keeps what was stored, whatever happens to the object", async (storage) => {
    const value = { key: "webui:a", messages: [{ role: "user", content: "as it was", timestamp: at }] };
    const storing = storage.set("messages:webui:a", value);
    const expected = structuredClone(value);
    await storing;
    value.messages.length = 0;
    assert.deepEqual(await storage.get("messages:webui:a"), expected);
  }),
  storageTest(
    "gives many records in the order of their keys, with gaps for those that are not there",
    async (storage) => {
      const keys = Array.from({ length: 130 }, (_, n) => `webui:${n}`);
      await saveHeads(
        storage,
        keys.filter((_, n) => n % 3 !== 0),
      );
      const found = await storage.getMany(keys.map((key) => `sessions:${key}`));
      assert.deepEqual(
        found.map((value) => (value === undefined ? undefined : Reflect.get(value, "key"))),
        keys.map((key, n) => (n % 3 === 0 ? undefined : key)),
      );
      assert.deepEqual(await storage.getMany([]), []);
    },
  ),
];
