import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { draft, type EventDraft } from "../../../../src/events/event.js";
import { answered, queued, tempFolder, until } from "../../../support/engine/engine-kit.js";
import { openStore } from "../../../support/engine/histories/session-store.js";

const key = "webui:one";

function said(text: string): EventDraft {
  return draft(
    "user_message",
    { message_id: `msg_${text}`, content: [{ type: "text", text }], iteration: 1 },
    { source: "agent" },
  );
}

function goDocument(home: string, name: string, document: unknown): string {
  const path = join(home, "sessions", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
  return path;
}

const momo = { key, messages: [{ role: "user", content: "My cat is Momo.", timestamp: "2025-01-01T10:00:00Z" }] };

async function opened(t: TestContext, options: Parameters<typeof openStore>[1] = {}) {
  const home = tempFolder(t);
  return { home, ...(await openStore(home, options)) };
}

test("a session follows its events while it is in memory, and is the same when it is read again", async (t) => {
  const home = tempFolder(t);
  {
    await using s = await openStore(home);
    const session = await s.store.open(key);
    await s.engine.append(key, [queued("msg_1"), said("hello")], { durable: false });
    assert.deepEqual([session.document.lastSequence, session.history.size, session.document.messageCount], [2, 1, 1]);
    assert.deepEqual([...session.messages.queued.keys()], ["msg_1"]);
  }
  await using again = await openStore(home);
  const session = await again.store.open(key);
  assert.deepEqual([session.document.lastSequence, session.history.size, session.document.messageCount], [2, 1, 1]);
  assert.deepEqual([...session.messages.queued.keys()], ["msg_1"]);
});

test("events that come while the past is being read are neither lost nor doubled", async (t) => {
  await using s = await opened(t);
  for (let n = 0; n < 50; n++) await s.engine.append(key, [said(`${n}`)], { durable: false });
  const opening = s.store.open(key);
  for (let n = 50; n < 60; n++) await s.engine.append(key, [said(`${n}`)], { durable: false });
  const session = await opening;
  await s.engine.append(key, [said("last")], { durable: false });
  assert.equal(session.history.size, 61);
  assert.equal(session.document.lastSequence, 61);
});

test("sessions at rest leave memory, their documents are on disk, and they come back as a new agent", async (t) => {
  await using s = await opened(t, { memory: { maxSessions: 2 }, quietMs: 60_000 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const first = await s.store.open("webui:0");
  await s.engine.append("webui:0", [queued("msg_0"), said("zero")], { durable: false });
  t.mock.timers.tick(10_000);
  for (let n = 1; n <= 3; n++) {
    await s.store.open(`webui:${n}`);
    t.mock.timers.tick(10_000);
  }
  await until("the document is written", () => existsSync(s.files.documentPath("webui:0")));
  await s.engine.append("webui:0", [said("while it was away")], { durable: false });
  const again = await s.store.open("webui:0");
  assert.notEqual(again.agentId, first.agentId);
  assert.equal(again.history.size, 2);
});

test("a session in the middle of a turn stays in memory, however long it takes", async (t) => {
  await using s = await opened(t, { memory: { maxSessions: 1 }, quietMs: 60_000 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const session = await s.store.open(key);
  const started = draft(
    "turn_execution_start",
    { message_ids: ["msg_1"], queued_ms: 0, attempt: 1 },
    { source: "agent", turn_id: "turn_1" },
  );
  await s.engine.append(key, [started], { durable: false });
  for (let n = 0; n < 3; n++) {
    t.mock.timers.tick(60_000);
    await s.store.open(`webui:other-${n}`);
  }
  assert.equal(await s.store.open(key), session);
  await s.engine.append(key, [{ ...answered(["msg_1"]), turn_id: "turn_1" }], { durable: false });
  t.mock.timers.tick(60_000);
  await s.store.open("webui:another");
  assert.notEqual(await s.store.open(key), session);
});

test("a message that comes right behind a deletion finds an empty session", async (t) => {
  await using s = await opened(t);
  const old = await s.store.open(key);
  await s.engine.append(key, [said("secret")], { durable: false });
  const deleteSession = s.engine.deleteSession.bind(s.engine);
  let look: Promise<unknown> = Promise.resolve();
  t.mock.method(s.engine, "deleteSession", async (each: string) => {
    await deleteSession(each);
    look = s.store.open(each);
    await new Promise((resolve) => setImmediate(resolve));
  });
  await s.store.delete(key);
  assert.notEqual(await look, old);
  assert.equal(await look, await s.store.open(key));
  assert.equal((await s.store.open(key)).history.size, 0);
});

test("a Go document becomes the first event, once, however many open it at the same time", async (t) => {
  const home = tempFolder(t);
  goDocument(home, "webui_one.json", momo);
  {
    await using s = await openStore(home);
    await Promise.all([s.store.open(key), s.store.open(key), s.store.document(key)]);
    const { events } = await s.engine.events(key, { afterSeq: 0, limit: 10 });
    assert.deepEqual(
      events.map((event) => event.type),
      ["session_history_changed"],
    );
  }
  // As a crash leaves it: the log has the import, and the document is still the Go maxclaw's.
  goDocument(home, "webui_one.json", momo);
  await using again = await openStore(home);
  assert.equal((await again.store.open(key)).history.size, 1);
  assert.equal(await again.engine.lastSequence(key), 1);
});

test("a Go document is taken over once also where a message was accepted before anybody opened the session", async (t) => {
  const home = tempFolder(t);
  {
    await using s = await openStore(home, { quietMs: 60_000 });
    await s.engine.append(key, [queued("msg_1")], { durable: true });
    goDocument(home, "webui_one.json", momo);
    assert.equal((await s.store.open(key)).history.size, 1);
  }
  for (let start = 0; start < 2; start++) {
    goDocument(home, "webui_one.json", momo);
    await using again = await openStore(home);
    assert.equal((await again.store.open(key)).history.size, 1);
    assert.equal(await again.engine.lastSequence(key), 2);
  }
});

test("a document that holds another key is left alone", async (t) => {
  const home = tempFolder(t);
  const path = goDocument(home, "webui_one.json", { ...momo, key: "webui:somebody-else" });
  await using s = await openStore(home);
  assert.equal((await s.store.open(key)).history.size, 0);
  await s.engine.append(key, [said("mine")], { durable: false });
  await s.store.flush();
  assert.match(readFileSync(path, "utf8"), /Momo/);
  assert.notEqual(s.files.documentPath(key), path);
});

test("a broken document is set aside and named in the log, and never written over", async (t) => {
  const home = tempFolder(t);
  goDocument(home, "webui_one.json", '{"key": "webui:one", "mess');
  await using s = await openStore(home, { now: () => new Date("2026-01-02T03:04:05Z") });
  await s.store.open(key);
  const aside = join(home, "sessions", "webui_one.json.broken-2026-01-02T03-04-05-000Z");
  assert.match(readFileSync(aside, "utf8"), /"mess$/);
  assert.ok(s.log.lines.some(({ level, message }) => level === "warn" && message.includes("webui_one.json")));
});

test("what was set aside of a deleted session's document goes with it, and nothing of another session", async (t) => {
  const home = tempFolder(t);
  goDocument(home, "webui_one.json", '{"key": "webui:one", "mess');
  const others = ["webui_two.json.broken-2026-01-02T03-04-05-000Z", "webui_one.json.broken-mine.json"];
  for (const name of others) goDocument(home, name, "{}");
  await using s = await openStore(home);
  await s.engine.append(key, [said("hello")], { durable: false });
  await s.store.open(key);
  await s.store.flush();
  // What a kill has left of a write, too.
  for (const end of ["newer-2026-01-02T03-04-05-000Z", "0123456789ab"]) goDocument(home, `webui_one.json.${end}`, momo);
  await s.store.delete(key);
  const left = readdirSync(join(home, "sessions")).filter((name) => name.includes(".json."));
  assert.deepEqual(left.sort(), others.sort());
});

test("a session exists once it has an event or a document, not because somebody looked, nor after its deletion", async (t) => {
  const home = tempFolder(t);
  goDocument(home, "webui_one.json", momo);
  await using s = await openStore(home);
  assert.equal(await s.store.exists(key), true);
  await s.store.open("webui:looked-at");
  assert.equal(await s.store.exists("webui:looked-at"), false);
  await s.engine.append("webui:two", [said("hello")], { durable: false });
  assert.equal(await s.store.exists("webui:two"), true);
  for (const each of [key, "webui:two"]) {
    await s.store.delete(each);
    assert.equal(await s.store.exists(each), false);
    assert.equal((await s.store.open(each)).history.size, 0);
    assert.equal(await s.store.exists(each), false);
  }
});

test("a document of ours without its log is not a session: a deletion was cut off", async (t) => {
  const home = tempFolder(t);
  goDocument(home, "webui_one.json", { ...momo, metadata: { lastSequence: 7 } });
  await using s = await openStore(home);
  assert.equal(await s.store.exists(key), false);
});

test("nothing of a deleted session is in its next life, no matter who looked at it meanwhile", async (t) => {
  await using s = await opened(t);
  await s.store.open(key);
  await s.engine.append(key, [queued("msg_1"), said("secret")], { durable: false });
  const looks: Promise<unknown>[] = [];
  const deleting = s.store.delete(key);
  for (let n = 0; n < 10; n++) {
    looks.push(s.store.open(key));
    await Promise.resolve();
  }
  await Promise.all([deleting, ...looks]);
  await s.engine.append(key, [said("fresh")], { durable: false });
  const session = await s.store.open(key);
  assert.deepEqual([session.history.size, session.document.messageCount], [1, 0]);
  assert.doesNotMatch(JSON.stringify(await s.store.document(key)), /secret/);
  assert.equal(existsSync(s.files.documentPath(key)), false);
});

test("a session whose deletion is refused is whole again", async (t) => {
  const home = tempFolder(t);
  const failure = new Error("no space");
  await using s = await openStore(home);
  await s.store.open(key);
  await s.engine.append(key, [queued("msg_1"), said("still here")], { durable: false });
  await s.store.flush();
  t.mock.method(s.engine, "deleteSession", async () => {
    throw failure;
  });
  await assert.rejects(s.store.delete(key), failure);
  await s.store.flush();
  assert.equal((await s.store.open(key)).history.size, 1);
  assert.ok(existsSync(s.files.documentPath(key)));
  assert.deepEqual(
    (await s.store.list()).map((each) => each.key),
    [key],
  );
});

test("the document on disk is the newest, however the writes fall", async (t) => {
  await using s = await opened(t, { quietMs: 0 });
  await s.store.open(key);
  for (let n = 1; n <= 30; n++) {
    await s.engine.append(key, [queued(`msg_${n}`)], { durable: false });
    void s.store.flush();
    if (n % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await s.store.flush();
  const document = JSON.parse(readFileSync(s.files.documentPath(key), "utf8"));
  assert.equal(document.metadata.lastSequence, 30);
});
