import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { StorageError } from "../../../../src/errors.js";
import { recordKey, recordKinds } from "../../../../src/sessions/storage/keys.js";
import { queued, tempFolder, titled, until } from "../../../support/engine/engine-kit.js";
import { type OpenedStore, openStore } from "../../../support/engine/histories/session-store.js";
import { createFakeStorage, type FakeStorage } from "../../../support/fakes/fake-storage.js";

const key = "webui:one";

/** A store whose documents are in the storage; the storage is the same however often it is opened. */
async function openOn(fake: FakeStorage, home: string, timeoutMs?: number, storageId = "fake a"): Promise<OpenedStore> {
  return await openStore(home, { storage: fake.open(timeoutMs), storageId });
}

async function say(s: OpenedStore, session: string, message: string): Promise<void> {
  await s.store.open(session);
  await s.engine.append(session, [queued(`${message}`)], { durable: true });
}

async function listed(s: OpenedStore): Promise<Record<string, number>> {
  return Object.fromEntries((await s.store.list()).map((each) => [each.key, each.messageCount]));
}

/** Up to where the stored records of a session show its log; undefined for records that are not there. */
function stored(fake: FakeStorage, session: string): readonly (number | undefined)[] {
  const read = (kind: (typeof recordKinds)[number]) => JSON.parse(fake.items.get(recordKey(kind, session)) ?? "{}");
  return [
    read("line").lastSequence,
    read("head").metadata?.lastSequence,
    read("messages").messages?.length,
    read("chat").key === undefined ? undefined : 1,
  ];
}

/** Its mark too, as if it had never been. */
function forgetJournal(home: string): void {
  for (const name of ["journal", "journal.mark"]) rmSync(join(home, name), { recursive: true, force: true });
}

test("documents, messages and both indexes are in the storage, and none are files", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  await using s = await openOn(fake, home);
  await say(s, key, "msg_1");
  await s.engine.append(key, [titled("A title")], { durable: false });
  await s.store.flush();
  assert.deepEqual([...fake.items.keys()].sort(), recordKinds.map((kind) => recordKey(kind, key)).sort());
  assert.deepEqual(stored(fake, key), [2, 2, 1, 1]);
  const head = JSON.parse(fake.items.get(recordKey("head", key)) ?? "");
  assert.deepEqual([head.key, head.title, head.metadata.state], [key, "A title", "created"]);
  assert.equal(existsSync(s.files.documentPath(key)), false);
  assert.equal(s.store.storageProblem(), undefined);
});

/** Kills the storage after each number of writes that the work may do, and shows what the next start makes of it. */
async function cutEverywhere(
  t: TestContext,
  before: (s: OpenedStore) => Promise<void>,
  work: (s: OpenedStore) => Promise<void>,
  look: (s: OpenedStore, fake: FakeStorage, cut: number) => Promise<void>,
): Promise<void> {
  for (let cut = 0; cut <= 4; cut++) {
    const home = tempFolder(t);
    const crashed = tempFolder(t);
    const fake = createFakeStorage();
    {
      await using s = await openOn(fake, home);
      await before(s);
      await s.store.list();
      await s.store.flush();
      fake.dieAfter(cut);
      await work(s);
      // What a kill leaves: the files as they are at this moment.
      cpSync(home, crashed, { recursive: true });
    }
    fake.behave("well");
    await using again = await openOn(fake, crashed);
    await look(again, fake, cut);
  }
}

test("a session whose first save is cut off anywhere is listed and whole after the next start", async (t) => {
  await cutEverywhere(
    t,
    (s) => say(s, "webui:other", "msg_0"),
    async (s) => {
      await say(s, key, "msg_1");
      await s.store.flush();
    },
    async (s, fake) => {
      assert.deepEqual(await listed(s), { [key]: 1, "webui:other": 1 });
      assert.deepEqual(stored(fake, key), [1, 1, 1, 1]);
    },
  );
});

test("a session whose later save is cut off anywhere is in step again after the next start", async (t) => {
  await cutEverywhere(
    t,
    (s) => say(s, key, "msg_1"),
    async (s) => {
      await say(s, key, "msg_2");
      await s.store.flush();
    },
    async (s, fake) => {
      assert.deepEqual(await listed(s), { [key]: 2 });
      assert.deepEqual(stored(fake, key), [2, 2, 2, 1]);
    },
  );
});

test("a deletion that is cut off anywhere leaves a whole session, and one that was not leaves nothing", async (t) => {
  await cutEverywhere(
    t,
    (s) => say(s, key, "msg_1"),
    async (s) => {
      await s.store.delete(key).catch((error: unknown) => assert.ok(error instanceof StorageError));
    },
    async (s, fake, cut) => {
      assert.deepEqual(await listed(s), cut < 4 ? { [key]: 1 } : {});
      assert.deepEqual(stored(fake, key), cut < 4 ? [1, 1, 1, 1] : [undefined, undefined, undefined, undefined]);
    },
  );
});

test("a deleted session whose records come back is taken out again, and never listed as one", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  {
    await using s = await openOn(fake, home);
    await say(s, key, "msg_1");
    await s.store.flush();
    const copy = new Map(fake.items);
    await s.store.delete(key);
    assert.equal(fake.items.size, 0);
    for (const [id, text] of copy) fake.items.set(id, text);
  }
  // As after a backup of the storage was put back, which another id stands for here.
  await using again = await openOn(fake, home, undefined, "fake b");
  assert.deepEqual(await listed(again), {});
  assert.equal(fake.items.size, 0);
});

test("while the storage is away sessions go on and are told about, and all is written once it is back", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  fake.behave("refuses");
  await using s = await openOn(fake, home);
  assert.deepEqual(await listed(s), {});
  for (const session of [key, "webui:two", "webui:three", "webui:four"]) await say(s, session, "msg_1");
  await s.store.flush();
  assert.equal(Object.keys(await listed(s)).length, 4);
  assert.equal((await s.store.document(key)).messages.length, 1);
  const problem = s.store.storageProblem() ?? "";
  assert.match(problem, /session storage \(fake\) has failed since .*ECONNREFUSED.*Nothing is lost/);
  assert.match(problem, /webui:\w+, webui:\w+, webui:\w+ and 1 more/);
  assert.ok(s.log.lines.some(({ level }) => level === "error"));
  for (const session of [key, "webui:four"]) assert.ok(s.log.lines.some(({ message }) => message.includes(session)));
  assert.equal(fake.items.size, 0);

  fake.behave("well");
  await until("it is tried again by itself", () => s.store.storageProblem() === undefined, 20_000);
  assert.deepEqual(stored(fake, key), [1, 1, 1, 1]);
  assert.equal(fake.items.size, 16);
});

test("sessions that left memory while the storage was away are written as well", async (t) => {
  const fake = createFakeStorage();
  const home = tempFolder(t);
  await using s = await openStore(home, {
    storage: fake.open(),
    storageId: "fake",
    memory: { maxSessions: 1 },
    quietMs: 60_000,
  });
  await s.store.list();
  fake.behave("refuses");
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  for (let n = 0; n < 5; n++) {
    await say(s, `webui:${n}`, "msg_1");
    t.mock.timers.tick(10_000);
  }
  await s.store.flush();
  fake.behave("well");
  await s.store.flush();
  assert.equal(fake.items.size, 20);
  assert.equal(s.store.storageProblem(), undefined);
});

test("what a stop could not write is written after the next start, also when the journal has forgotten it", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  {
    await using s = await openOn(fake, home);
    await say(s, key, "msg_1");
    await s.store.list();
    await s.store.flush();
    fake.behave("refuses");
    await say(s, key, "msg_2");
  }
  assert.deepEqual(stored(fake, key), [1, 1, 1, 1]);
  fake.behave("well");
  forgetJournal(home);
  await using again = await openOn(fake, home);
  assert.deepEqual(again.engine.recentSessions(), []);
  await again.store.catchUp();
  assert.deepEqual(stored(fake, key), [2, 2, 2, 1]);
});

test("a storage that hangs holds up neither list nor deletion nor stop", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  const startedAt = performance.now();
  {
    await using s = await openOn(fake, home, 100);
    await say(s, key, "msg_1");
    await s.store.list();
    await s.store.flush();
    fake.behave("hangs");
    await say(s, key, "msg_2");
    for (let n = 0; n < 30; n++) await say(s, `webui:${n}`, "msg_1");
    await s.store.flush();
    assert.equal(Object.keys(await listed(s)).length, 31);
    await assert.rejects(s.store.delete(key), /no answer within 0.1 s/);
    assert.equal((await s.store.document(key)).messages.length, 2);
    assert.match(s.store.storageProblem() ?? "", /no answer/);
  }
  // One by one they would take 30 times as long.
  assert.ok(performance.now() - startedAt < 10_000);
});

test("one document that the storage refuses holds up no other", async (t) => {
  const fake = createFakeStorage();
  fake.refuse("webui:large");
  await using s = await openOn(fake, tempFolder(t));
  await s.store.list();
  await say(s, "webui:large", "msg_1");
  await s.store.flush();
  await say(s, key, "msg_1");
  await s.store.flush();
  assert.deepEqual(stored(fake, key), [1, 1, 1, 1]);
  assert.match(s.store.storageProblem() ?? "", /value too large.*documents that wait.*: webui:large\./);
  assert.deepEqual(await listed(s), { [key]: 1, "webui:large": 1 });
  fake.refuse(undefined);
  await s.store.flush();
  assert.equal(s.store.storageProblem(), undefined);
  assert.deepEqual(stored(fake, "webui:large"), [1, 1, 1, 1]);
});

test("a deletion that the storage refuses leaves the session whole, and works when the storage is back", async (t) => {
  const fake = createFakeStorage();
  await using s = await openOn(fake, tempFolder(t));
  await say(s, key, "msg_1");
  await s.store.flush();
  fake.behave("refuses");
  await assert.rejects(s.store.delete(key), StorageError);
  assert.equal(await s.store.exists(key), true);
  assert.deepEqual(await listed(s), { [key]: 1 });
  fake.behave("well");
  await Promise.all([s.store.flush(), s.store.delete(key)]);
  assert.deepEqual(await listed(s), {});
  await s.store.flush();
  assert.equal(fake.items.size, 0);
});

test("documents move from files to a storage and back, and are never older than the log", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  {
    await using s = await openStore(home);
    for (const session of [key, "webui:two"]) await say(s, session, "msg_1");
    await s.store.flush();
  }
  forgetJournal(home);
  {
    await using s = await openOn(fake, home);
    assert.deepEqual(await listed(s), { [key]: 1, "webui:two": 1 });
    assert.equal(fake.items.size, 8);
    await say(s, key, "msg_2");
  }
  forgetJournal(home);
  {
    await using s = await openStore(home);
    assert.deepEqual(await listed(s), { [key]: 2, "webui:two": 1 });
    assert.equal(JSON.parse(readFileSync(s.files.documentPath(key), "utf8")).metadata.lastSequence, 2);
    await say(s, "webui:two", "msg_2");
  }
  forgetJournal(home);
  await using again = await openOn(fake, home);
  assert.deepEqual(await listed(again), { [key]: 2, "webui:two": 2 });
  assert.deepEqual(stored(fake, "webui:two"), [2, 2, 2, 1]);
});

test("a start compares only sessions of the journal while the storage is known to have the others", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  {
    await using s = await openOn(fake, home);
    for (let n = 0; n < 5; n++) await say(s, `webui:${n}`, "msg_1");
    await s.store.flush();
    await s.store.list();
  }
  forgetJournal(home);
  for (const [id, expected] of [
    ["fake a", 0],
    ["fake b", 5],
  ] as const) {
    await using s = await openOn(fake, home, undefined, id);
    const asked = t.mock.method(s.engine, "lastSequence");
    assert.equal((await s.store.list()).length, 5);
    assert.equal(asked.mock.callCount(), expected, id);
  }
});

test("a Go document is taken over and moves to the storage", async (t) => {
  const home = tempFolder(t);
  mkdirSync(join(home, "sessions"));
  const messages = [{ role: "user", content: "My cat is Momo.", timestamp: "2025-01-01T10:00:00Z" }];
  writeFileSync(join(home, "sessions", "webui_one.json"), JSON.stringify({ key, messages }));
  const fake = createFakeStorage();
  await using s = await openOn(fake, home);
  assert.deepEqual(await listed(s), { [key]: 1 });
  assert.match(fake.items.get(recordKey("messages", key)) ?? "", /Momo/);
  await s.store.delete(key);
  assert.equal(await s.store.exists(key), false);
});

test("records that nobody can read are not sessions, and are written over from the log", async (t) => {
  const home = tempFolder(t);
  const fake = createFakeStorage();
  {
    await using s = await openOn(fake, home);
    await say(s, key, "msg_1");
  }
  fake.items.set(recordKey("line", key), "{torn");
  fake.items.set("idx:sessions:channel:webui:webui:two", '{"some":"thing"}');
  fake.items.set("idx:sessions:channel:Somebody Else's", "1");
  await using again = await openOn(fake, home);
  assert.deepEqual(await listed(again), { [key]: 1 });
  assert.deepEqual(stored(fake, key), [1, 1, 1, 1]);
});
