import assert from "node:assert/strict";
import { test } from "node:test";
import { StorageError } from "../../src/errors.js";
import { sessionFileName } from "../../src/sessions/file-names.js";
import { recordKey } from "../../src/sessions/storage/keys.js";
import type { Change, StorageDriver } from "../../src/sessions/storage/storage.js";
import { until } from "../support/engine/engine-kit.js";
import type { StorageServer } from "../support/fakes/storage-servers.js";

export interface StorageSide {
  /** The storage of that name, empty at first; the same name again is the same storage. */
  readonly open: (space: string, timeoutMs?: number) => Promise<StorageDriver>;
  /** False where everything ends with the process. */
  readonly isLasting: boolean;
  readonly skip?: string | false;
  /** The server behind it, where there is one; undefined before it has started. */
  readonly server?: (() => StorageServer | undefined) | undefined;
}

const at = "2026-01-01T00:00:00.000Z";

/** The four records of a session, as they are written. */
export function recordsFor(key: string, text = "hello", lastSequence = 1): readonly Change[] {
  const message = { role: "user", content: text, timestamp: at };
  const metadata = { state: "idle", createdAt: at, lastActivity: at, usage: {}, lastSequence };
  const line = {
    key,
    file: `${sessionFileName(key)}.json`,
    messageCount: 1,
    lastMessageAt: at,
    lastMessage: text,
    lastSequence,
  };
  return [
    { key: recordKey("messages", key), value: { key, messages: [message] } },
    { key: recordKey("head", key), value: { key, title: text, metadata } },
    { key: recordKey("chat", key), value: { key } },
    { key: recordKey("line", key), value: line },
  ];
}

/** What every storage of session documents promises. */
export function testStorageContract(name: string, side: StorageSide): void {
  let spaces = 0;
  const storageTest = (title: string, run: (storage: StorageDriver, space: string) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip: side.skip ?? false }, async () => {
      spaces += 1;
      const space = `space${spaces}`;
      await using storage = await side.open(space);
      await run(storage, space);
    });
  };
  /** For storages that are servers. */
  const serverTest = (
    title: string,
    run: (storage: StorageDriver, server: StorageServer, space: string) => Promise<void>,
  ): void => {
    const { server } = side;
    if (server === undefined) return;
    storageTest(title, async (storage, space) => {
      const running = server();
      assert.ok(running !== undefined);
      await run(storage, running, space);
    });
  };

  const save = async (storage: StorageDriver, ...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await storage.change(recordsFor(key));
  };
  const saveHeads = async (storage: StorageDriver, keys: readonly string[]): Promise<void> => {
    await Promise.all(
      keys.map((key) => storage.set(`sessions:${key}`, { key, metadata: { state: "idle", lastSequence: 1 } })),
    );
  };
  const scan = async (storage: StorageDriver, prefix: string): Promise<readonly string[]> =>
    [...(await storage.keys(prefix))].sort();

  storageTest("gives back what was stored, and undefined for what was not", async (storage) => {
    assert.equal(await storage.get("sessions:webui:a"), undefined);
    for (const { key, value } of recordsFor("webui:a")) {
      await storage.set(key, value ?? {});
      assert.deepEqual(await storage.get(key), value);
    }
    assert.equal(await storage.get("messages:webui:b"), undefined);
  });

  storageTest("puts a record in the place of the one before", async (storage) => {
    await storage.change(recordsFor("webui:a", "long ".repeat(1000)));
    await storage.change(recordsFor("webui:a", "short", 2));
    for (const { key, value } of recordsFor("webui:a", "short", 2)) assert.deepEqual(await storage.get(key), value);
    assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a"]);
  });

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
  });

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
  });

  storageTest("keeps what was stored, whatever becomes of the object", async (storage) => {
    const value = { key: "webui:a", messages: [{ role: "user", content: "as it was", timestamp: at }] };
    const storing = storage.set("messages:webui:a", value);
    const expected = structuredClone(value);
    await storing;
    value.messages.length = 0;
    assert.deepEqual(await storage.get("messages:webui:a"), expected);
  });

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
  );

  storageTest("finds every key below a prefix once, and nothing beside it", async (storage) => {
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
  });

  storageTest("leaves indexes out of scans that do not ask for them", async (storage) => {
    await save(storage, "webui:a");
    assert.deepEqual(await scan(storage, ""), ["messages:webui:a", "sessions:webui:a"]);
    assert.deepEqual(await scan(storage, "idx:"), [
      "idx:sessions:channel:webui:webui:a",
      "idx:sessions:chat:a:webui:a",
    ]);
  });

  storageTest("tells chats with a thread from chats with such a name", async (storage) => {
    await save(storage, "telegram:42", "telegram:42:7", "telegram:421", "discord:42");
    assert.deepEqual(await scan(storage, "idx:sessions:chat:42:"), [
      "idx:sessions:chat:42:discord:42",
      "idx:sessions:chat:42:telegram:42",
    ]);
    assert.deepEqual(await scan(storage, "idx:sessions:chat:42%3a7:"), ["idx:sessions:chat:42%3a7:telegram:42:7"]);
  });

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
  });

  storageTest("deletes what is there, and minds nothing that is not", async (storage) => {
    await save(storage, "webui:a", "webui:b");
    const gone = recordsFor("webui:a").map(({ key }) => ({ key, value: undefined }));
    await storage.change(gone);
    await storage.change(gone);
    for (const { key } of gone) assert.equal(await storage.get(key), undefined);
    assert.deepEqual(await scan(storage, ""), ["messages:webui:b", "sessions:webui:b"]);
    assert.deepEqual(await scan(storage, "idx:sessions:channel:"), ["idx:sessions:channel:webui:webui:b"]);
    await storage.delete("sessions:webui:never");
  });

  storageTest("takes changes of many sessions at once", async (storage) => {
    const keys = Array.from({ length: 20 }, (_, n) => `webui:${n}`);
    await Promise.all(keys.map((key) => storage.change(recordsFor(key, "first"))));
    await Promise.all(keys.map((key, n) => storage.change(n % 2 === 0 ? recordsFor(key, "second") : [])));
    const lines = await storage.getMany(keys.map((key) => recordKey("line", key)));
    assert.deepEqual(
      lines.map((line) => Reflect.get(line ?? {}, "lastMessage")),
      keys.map((_, n) => (n % 2 === 0 ? "second" : "first")),
    );
  });

  storageTest("has everything when it is opened again, unless it says otherwise", async (storage, space) => {
    await save(storage, "webui:a", "telegram:-100:7");
    await storage.change(recordsFor("webui:b").map(({ key }) => ({ key, value: undefined })));
    await storage[Symbol.asyncDispose]();
    await using again = await side.open(space);
    const found = await again.getMany(recordsFor("telegram:-100:7").map(({ key }) => key));
    const expected = recordsFor("telegram:-100:7").map(({ value }) => (side.isLasting ? value : undefined));
    assert.deepEqual(found, expected);
    assert.equal((await again.keys("idx:sessions:channel:")).length, side.isLasting ? 2 : 0);
  });

  storageTest("refuses by name once it is closed, and may be closed twice", async (storage) => {
    await storage[Symbol.asyncDispose]();
    await assert.rejects(storage.get("sessions:webui:a"), StorageError);
    await assert.rejects(storage.set("sessions:webui:a", { key: "webui:a", metadata: {} }), StorageError);
    await assert.rejects(storage.keys("sessions:"), /closed/);
    await storage[Symbol.asyncDispose]();
  });

  serverTest("fails by name while its server is away, and works again when that is back", async (storage, server) => {
    await save(storage, "webui:a");
    await server.kill();
    await assert.rejects(storage.get("sessions:webui:a"), (error) => {
      assert.ok(error instanceof StorageError);
      assert.doesNotMatch(error.message, /secret-word/);
      return error.message !== "";
    });
    await assert.rejects(storage.set("sessions:webui:a", { key: "webui:a", metadata: {} }), StorageError);
    await server.start();
    assert.deepEqual(await storage.get("messages:webui:a"), recordsFor("webui:a")[0]?.value);
    await save(storage, "webui:b");
    assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a", "sessions:webui:b"]);
  });

  serverTest(
    "does not wait for a server that hangs, and works again when that goes on",
    async (storage, server, space) => {
      await save(storage, "webui:a");
      await using hurried = await side.open(space, 700);
      const works = (): Promise<boolean> =>
        save(hurried, "webui:b").then(
          () => true,
          () => false,
        );
      await until("it is connected", works, 20_000);
      server.pause();
      try {
        // A process stops a moment after it was told to.
        const hangs = (): Promise<boolean> =>
          hurried.change(recordsFor("webui:a", "new")).then(
            () => false,
            (error: unknown) => error instanceof StorageError,
          );
        await until("it hangs", hangs, 20_000);
        await assert.rejects(hurried.keys("sessions:"), StorageError);
      } finally {
        server.resume();
      }
      await until("it works again", works, 20_000);
      assert.deepEqual(await scan(storage, "sessions:"), ["sessions:webui:a", "sessions:webui:b"]);
    },
  );
}
