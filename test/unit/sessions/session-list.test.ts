import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { KeyTable } from "../../../src/sessions/list/key-table.js";
import { settlesWithin } from "../../support/cost.js";
import { queued, tempFolder, titled, until } from "../../support/engine/engine-kit.js";
import { makeEvent } from "../../support/engine/histories/events.js";
import { openStore } from "../../support/engine/histories/session-store.js";

function write(home: string, name: string, document: unknown): void {
  mkdirSync(join(home, "sessions"), { recursive: true });
  writeFileSync(join(home, "sessions", name), typeof document === "string" ? document : JSON.stringify(document));
}

const at = (timestamp: string) => [{ role: "user", content: `at ${timestamp}`, timestamp }];

test("documents that nobody has opened are listed, newest first, whatever time zone their times are in", async (t) => {
  const home = tempFolder(t);
  write(home, "webui_a.json", { key: "webui:a", title: "A", messages: at("2025-01-01T12:00:00+08:00") });
  write(home, "webui_b.json", { key: "webui:b", messages: at("2025-01-01T05:00:00Z") });
  write(home, "telegram_7.json", { key: "telegram:7", messages: [] });
  await using s = await openStore(home);
  assert.deepEqual(
    (await s.store.list()).map(({ key, title, messageCount, lastMessageAt }) => [
      key,
      title,
      messageCount,
      lastMessageAt,
    ]),
    [
      ["webui:b", undefined, 1, "2025-01-01T05:00:00.000Z"],
      ["webui:a", "A", 1, "2025-01-01T04:00:00.000Z"],
      ["telegram:7", undefined, 0, undefined],
    ],
  );
});

test("broken documents, copies and foreign files are left out and named; a session is listed once", async (t) => {
  const home = tempFolder(t);
  write(home, "webui_a.json", { key: "webui:a", messages: at("2025-01-01T00:00:00Z") });
  write(home, "webui_a copy.json", { key: "webui:a", messages: [] });
  write(home, "webui_broken.json", "{not JSON");
  write(home, "package.json", { name: "something else" });
  write(home, ".hidden.json", { key: "webui:hidden", messages: [] });
  await using s = await openStore(home);
  assert.deepEqual(
    (await s.store.list()).map(({ key, messageCount }) => [key, messageCount]),
    [["webui:a", 1]],
  );
  for (const name of ["webui_a copy.json", "webui_broken.json", "package.json"])
    assert.ok(
      s.log.lines.some(({ level, message }) => level === "warn" && message.startsWith(name)),
      name,
    );
});

test("a renamed document follows its key, and one that was removed by hand is written again from the log", async (t) => {
  const home = tempFolder(t);
  {
    await using s = await openStore(home);
    for (const key of ["webui:Kept", "webui:removed"]) {
      await s.store.open(key);
      await s.engine.append(key, [queued(`msg_${key}`)], { durable: false });
    }
    await s.store.flush();
    assert.equal((await s.store.list()).length, 2);
  }
  const dir = join(home, "sessions");
  // The Go maxclaw's name for the same session.
  cpSync(join(dir, "webui_%4bept.json"), join(dir, "webui_Kept.json"));
  rmSync(join(dir, "webui_%4bept.json"));
  rmSync(join(dir, "webui_removed.json"));
  await using again = await openStore(home);
  const list = await again.store.list();
  assert.deepEqual(list.map(({ key, messageCount }) => `${key} ${messageCount}`).sort(), [
    "webui:Kept 1",
    "webui:removed 1",
  ]);
});

test("after a crash, sessions whose documents were not written yet are listed as their logs tell", async (t) => {
  const home = tempFolder(t);
  const crashed = tempFolder(t);
  {
    await using s = await openStore(home, { quietMs: 60_000 });
    await s.store.open("webui:old");
    await s.engine.append("webui:old", [queued("msg_1")], { durable: false });
    await s.store.flush();
    for (const key of ["webui:old", "webui:new"]) {
      await s.store.open(key);
      await s.engine.append(key, [queued(`msg_2_${key}`)], { durable: true });
    }
    cpSync(home, crashed, { recursive: true });
  }
  await using again = await openStore(crashed);
  const listed = new Map((await again.store.list()).map(({ key, messageCount }) => [key, messageCount]));
  assert.deepEqual(Object.fromEntries(listed), { "webui:old": 2, "webui:new": 1 });
});

for (const how of ["an orderly stop", "some quiet"])
  test(`after a crash, ${how} brings documents up to date that nobody has asked for since`, async (t) => {
    const home = tempFolder(t);
    const crashed = tempFolder(t);
    {
      await using s = await openStore(home, { quietMs: 60_000 });
      await s.store.open("webui:old");
      await s.engine.append("webui:old", [queued("msg_1")], { durable: false });
      await s.store.flush();
      await s.engine.append("webui:old", [queued("msg_2")], { durable: true });
      await s.engine.append("webui:new", [queued("msg_3")], { durable: true });
      cpSync(home, crashed, { recursive: true });
    }
    const messagesIn = (name: string): number => {
      const path = join(crashed, "sessions", name);
      return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).messages.length : 0;
    };
    const isUpToDate = (): boolean => messagesIn("webui_old.json") === 2 && messagesIn("webui_new.json") === 1;
    assert.equal(isUpToDate(), false);
    const quietMs = how === "some quiet" ? 5 : 60_000;
    {
      await using again = await openStore(crashed, { quietMs });
      // Somebody who only looks changes nothing that would be written.
      await again.store.open("webui:old");
      if (how === "some quiet") await until("the documents are written", isUpToDate);
    }
    assert.ok(isUpToDate());
    await using third = await openStore(crashed);
    const listed = (await third.store.list()).map(({ key, messageCount }) => `${key} ${messageCount}`);
    assert.deepEqual(listed.sort(), ["webui:new 1", "webui:old 2"]);
  });

test("a session that another node deletes before its document is written is left out of a list at the same moment", async (t) => {
  const home = tempFolder(t);
  const shared = { instanceId: "gw_test", lastSequences: async () => new Map([["webui:a", 1]]) };
  await using s = await openStore(home, { quietMs: 60_000, changed: { recentSessions: () => [], shared } });
  await s.store.list();
  await s.store.open("webui:a");
  await s.engine.append("webui:a", [queued("msg_1")], { durable: false });
  assert.equal((await s.store.list()).length, 1);
  assert.ok(!existsSync(join(home, "sessions", ".index.jsonl")));
  const deleted = makeEvent(
    "session_state_changed",
    { from: "open", to: "deleted", reason: "deleted" },
    { session_key: "webui:a", seq: null },
  );
  s.bus.emit({ ...deleted, metadata: { instance_id: "gw_other" } });
  assert.deepEqual(await s.store.list(), []);
});

test("2,000 sessions are listed from the index, without reading a document again", async (t) => {
  const home = tempFolder(t);
  for (let n = 0; n < 2000; n++)
    write(home, `webui_${n}.json`, { key: `webui:${n}`, messages: at(new Date(n * 1000).toISOString()) });
  {
    await using s = await openStore(home);
    assert.equal((await s.store.list()).length, 2000);
  }
  // What is in the index is not read: even this goes unnoticed.
  for (let n = 0; n < 2000; n++) write(home, `webui_${n}.json`, "{broken");
  await using again = await openStore(home);
  const list = await settlesWithin(again.store.list(), 1000);
  assert.equal(list.length, 2000);
  assert.equal(list[0]?.key, "webui:1999");
  assert.ok(!again.log.lines.some(({ level }) => level === "warn"));
});

test("a page of many sessions looks at its own, and knows how many there are", async (t) => {
  const home = tempFolder(t);
  const many = 3000;
  for (let n = 0; n < many; n++)
    write(home, `webui_${n}.json`, { key: `webui:${n}`, messages: at(new Date(1e12).toISOString()) });
  write(home, "system_a.json", { key: "system:a", messages: at(new Date(1e12).toISOString()) });
  await using s = await openStore(home);
  const page = (offset: number) => s.store.page({ offset, limit: 50, except: "system:" });
  const strings = t.mock.method(KeyTable.prototype, "keyOf");
  const looks = t.mock.method(KeyTable.prototype, "hasPrefix");
  const [first, second] = [await page(0), await page(50)];
  // Of its own rows some once more, to read their lines; none to put those of the same moment in order.
  assert.ok(strings.mock.callCount() < 500, `${strings.mock.callCount()} keys became strings`);
  assert.ok(looks.mock.callCount() < many + 500, `${looks.mock.callCount()} keys looked at`);
  const inOrder = Array.from({ length: many }, (_, n) => `webui:${n}`).sort();
  const keys = [...first.sessions, ...second.sessions].map(({ key }) => key);
  assert.deepEqual([keys, first.total, second.total], [inOrder.slice(0, 100), many, many]);
  for (const key of ["system:b", "webui:new"]) {
    await s.store.open(key);
    await s.engine.append(key, [queued(`msg_${key}`)], { durable: false });
  }
  const third = await page(0);
  assert.deepEqual([third.sessions[0]?.key, third.total], ["webui:new", many + 1]);
  await s.store.delete("webui:7");
  await s.store.delete("system:a");
  assert.equal((await page(0)).total, many);
  assert.equal((await s.store.page({ limit: 1 })).total, many + 1);
  const last = await s.store.page({ offset: many - 3, limit: 50, except: "system:" });
  assert.deepEqual(
    last.sessions.map(({ key }) => key),
    ["webui:997", "webui:998", "webui:999"],
  );
});

test("the index file stays small, however often a document is written", async (t) => {
  const home = tempFolder(t);
  await using s = await openStore(home, { quietMs: 60_000 });
  await s.store.open("webui:busy");
  await s.store.list();
  for (let n = 0; n < 1100; n++) {
    await s.engine.append("webui:busy", [titled(`title ${n}`)], { durable: false });
    if (n % 10 === 0) await s.store.flush();
    else void s.store.flush();
  }
  await s.store.flush();
  const lines = readFileSync(join(home, "sessions", ".index.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  assert.ok(lines.length <= 1003, `${lines.length} lines`);
  const last = JSON.parse(lines.at(-1) ?? "");
  assert.deepEqual([last.key, last.title], ["webui:busy", "title 1099"]);
});
