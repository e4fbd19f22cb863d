import assert from "node:assert/strict";
import { recordKey } from "../../../src/sessions/storage/keys.js";
import { recordsFor, save, saveHeads, scan } from "./records.js";
import { type StorageTest, storageTest } from "./storage-test.js";

export const keysTests: readonly StorageTest[] = [
  storageTest("finds every key below a prefix once, and nothing else", async (storage) => {
    const keys = Array.from({ length: 120 }, (_, n) => `telegram:${n}`);
    await saveHeads(storage, keys);
    await save(storage, "webui:a", "webui:ab", "webui:a:b", "web_i:a", "web%:a", "webui-2:a");
    assert.deepEqual(await scan(storage, "sessions:telegram:"), keys.map((key) => `sessions:${key}`).sort());
    assert.deepEqual(await scan(storage, "messages:webui:"), [
      "messages:webui:a",
      "messages:webui:a:b",
      "messages:webui:ab",
    ]);
    assert.deepEqual(await scan(storage, "sessions:web_"), ["sessions:web_i:a"]);
    assert.deepEqual(await scan(storage, "sessions:web%"), ["sessions:web%:a"]);
    assert.deepEqual(await scan(storage, "idx:sessions:channel:webui:"), [
      "idx:sessions:channel:webui:webui:a",
      "idx:sessions:channel:webui:webui:a:b",
      "idx:sessions:channel:webui:webui:ab",
    ]);
    assert.deepEqual(await scan(storage, "nothing:"), []);
  }),
  storageTest("leaves indexes out of scans that do not ask for them", async (storage) => {
    await save(storage, "webui:a");
    assert.deepEqual(await scan(storage, ""), ["messages:webui:a", "sessions:webui:a"]);
    assert.deepEqual(await scan(storage, "idx:"), [
      "idx:sessions:channel:webui:webui:a",
      "idx:sessions:chat:a:webui:a",
    ]);
  }),
  storageTest("tells chats with a thread from chats with such a name", async (storage) => {
    await save(storage, "telegram:42", "telegram:42:7", "telegram:421", "discord:42");
    assert.deepEqual(await scan(storage, "idx:sessions:chat:42:"), [
      "idx:sessions:chat:42:discord:42",
      "idx:sessions:chat:42:telegram:42",
    ]);
    assert.deepEqual(await scan(storage, "idx:sessions:chat:42%3a7:"), ["idx:sessions:chat:42%3a7:telegram:42:7"]);
  }),
  storageTest("keeps sessions apart whose keys differ in case, marks or far behind", async (storage) => {
    const long = "x".repeat(400);
    const keys = [
      ...["webui:A", "webui:a", "webui:á", "webui:a ", "webui:a:", "webui::a", "webui:a/b", "webui:a:b", "webui:a\\b"],
      ...[
        "webui:a?b",
        "webui:a#b",
        "webui:..",
        "webui:../x",
        "webui:.",
        "webui:[a]*",
        "webui:a~b",
        "webui:=41",
        "webui:%41",
      ],
      ...[`webui:${long}1`, `webui:${long}2`, `webui:${"漢".repeat(150)}`],
    ];
    for (const [n, key] of keys.entries()) await storage.change(recordsFor(key, `text ${n}`));
    for (const [n, key] of keys.entries())
      for (const record of recordsFor(key, `text ${n}`)) assert.deepEqual(await storage.get(record.key), record.value);
    assert.deepEqual(await scan(storage, "sessions:"), keys.map((key) => `sessions:${key}`).sort());
    assert.deepEqual(await scan(storage, "idx:sessions:channel:"), keys.map((key) => recordKey("line", key)).sort());
    assert.deepEqual(await scan(storage, "idx:sessions:chat:"), keys.map((key) => recordKey("chat", key)).sort());
    await storage.change(recordsFor(keys[0] ?? "").map(({ key }) => ({ key, value: undefined })));
    assert.equal((await storage.keys("sessions:")).length, keys.length - 1);
  }),
];
