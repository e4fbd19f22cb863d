import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { noUsage } from "../../../src/events/content.js";
import { draft } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { SessionIndex } from "../../../src/sessions/list/session-index.js";
import { createMemoryStorage } from "../../../src/sessions/storage/memory.js";
import type { StorageDriver } from "../../../src/sessions/storage/storage.js";
import { newId } from "../../../src/util/ids.js";
import { queued, tempFolder, until } from "../../support/engine/engine-kit.js";
import { openStore } from "../../support/engine/histories/session-store.js";
import { liveBytes } from "../../support/engine/live-bytes.js";
import { watchReads } from "../../support/rules/watch-reads.js";
import { withoutProc } from "../../support/worlds/needs.js";

function answer(text: string) {
  const content = [{ type: "text" as const, text }];
  const rest = {
    model: "m",
    iteration: 1,
    stop_reason: "end_turn",
    usage: noUsage,
    final: true,
    partial: false,
  } as const;
  return draft("assistant_message", { message_id: newId("msg"), content, ...rest }, { source: "agent" });
}

/** A storage whose changes wait until `open` is called. */
function createGate(): { readonly storage: StorageDriver; begun: number; ended: number; open(): void } {
  const memory = createMemoryStorage();
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const gate = {
    begun: 0,
    ended: 0,
    open,
    storage: {
      ...memory,
      name: "gate",
      async change(changes: Parameters<StorageDriver["change"]>[0]) {
        gate.begun += 1;
        await opened;
        await memory.change(changes);
        gate.ended += 1;
      },
      [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
    },
  };
  return gate;
}

test("however often a session changes while its document waits for a slow storage, one more write waits", async (t) => {
  const gate = createGate();
  await using s = await openStore(tempFolder(t), { storage: gate.storage, storageId: "gate", quietMs: 60_000 });
  await s.store.open("webui:one");
  for (let n = 0; n < 30; n++) {
    await s.engine.append("webui:one", [queued(`msg_${n}`)], { durable: false });
    void s.store.flush();
    await until("the first write is under way", () => gate.begun > 0);
  }
  gate.open();
  await s.store.flush();
  assert.ok(gate.ended <= 3, `${gate.ended} writes`);
  assert.equal((await s.store.peek("webui:one"))?.length, 0);
  const [line] = await s.store.list();
  assert.equal(line?.messageCount, 30);
});

test("two documents are written at a time, so that the journal finds a thread for its syncs", async (t) => {
  const gate = createGate();
  await using s = await openStore(tempFolder(t), { storage: gate.storage, storageId: "gate", quietMs: 60_000 });
  for (let n = 0; n < 10; n++) {
    await s.store.open(`webui:${n}`);
    await s.engine.append(`webui:${n}`, [queued(`msg_${n}`)], { durable: false });
  }
  const flushed = s.store.flush();
  await until("writes are under way", () => gate.begun >= 2);
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(gate.begun, 2);
  gate.open();
  await flushed;
  assert.equal(gate.ended, 10);
});

test("sessions leave memory for the room they take, also when no other one is opened", async (t) => {
  await using s = await openStore(tempFolder(t), { memory: { maxBytes: 60_000 }, quietMs: 60_000 });
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
  const agents: string[] = [];
  for (let n = 0; n < 4; n++) {
    agents.push((await s.store.open(`webui:${n}`)).agentId);
    await s.engine.append(`webui:${n}`, [queued(`msg_${n}`), answer("x".repeat(20_000))], { durable: false });
  }
  t.mock.timers.tick(10_000);
  await s.store.flush();
  const kept: number[] = [];
  // The ones used last first: bringing one back makes others leave.
  for (const [n, agent] of [...agents.entries()].reverse())
    if ((await s.store.open(`webui:${n}`)).agentId === agent) kept.push(n);
  assert.ok(kept.length >= 1 && kept.length <= 2, `${kept.length} stayed`);
});

const sessions = 20_000;
/** For 100,000 a bit more than four times as much: columns grow by doubling. */
const mostBytes = 3_000_000;

function writeMany(dir: string): void {
  mkdirSync(dir, { recursive: true });
  const lines: string[] = [];
  for (let n = 0; n < sessions; n++) {
    const file = `webui_${n}.json`;
    writeFileSync(join(dir, file), "");
    const texts = { lastMessage: "answer ".repeat(28), summary: "what do you think of it? ".repeat(4) };
    const lastMessageAt = new Date(1_750_000_000_000 + ((n * 7919) % sessions) * 1000).toISOString();
    lines.push(JSON.stringify({ key: `webui:${n}`, file, lastSequence: 5, lastMessageAt, messageCount: 2, ...texts }));
  }
  writeFileSync(join(dir, ".index.jsonl"), `${lines.join("\n")}\n`);
}

test("a list of many sessions keeps no texts in memory, and a page reads its own lines alone", {
  skip: withoutProc(),
}, async (t) => {
  const home = tempFolder(t);
  const dir = join(home, "sessions");
  writeMany(dir);
  await using s = await openStore(home);
  const before = liveBytes();
  const first = await s.store.page({ limit: 50 });
  assert.equal(first.total, sessions);
  const grown = liveBytes() - before;
  t.diagnostic(`${grown} bytes more`);
  assert.ok(grown < mostBytes, `${grown} bytes more`);
  const watch = watchReads(dir);
  const second = await s.store.page({ offset: 50, limit: 50 });
  const { bytes, opened, listed } = watch.end();
  assert.deepEqual([opened, listed], [["/.index.jsonl"], []]);
  // The lines of a page are anywhere in the file: neighbours are read in one go.
  assert.ok(bytes < 50 * 70_000, `${bytes} bytes read`);
  const times = [...first.sessions, ...second.sessions].map(({ lastMessageAt }) => lastMessageAt ?? "");
  assert.deepEqual(times, [...times].sort().reverse());
  assert.equal(new Set([...first.sessions, ...second.sessions].map(({ key }) => key)).size, 100);
});

test("an index of an older version, with torn and foreign lines, tells the same; a damaged line is read from its document", async (t) => {
  const dir = join(tempFolder(t), "sessions");
  mkdirSync(dir, { recursive: true });
  const document = (key: string) => ({
    key,
    messages: [{ role: "user", content: `in ${key}`, timestamp: "2025-01-01T00:00:00.000Z" }],
    metadata: { lastSequence: 3 },
  });
  const names = ["webui_a", "webui_b", "my_channel_c", "webui_%c3%bc", "webui_torn"];
  const keys = ["webui:a", "webui:b", "my_channel:c", "webui:ü", "webui:torn"];
  for (const [n, name] of names.entries())
    writeFileSync(join(dir, `${name}.json`), JSON.stringify(document(keys[n] ?? "")));
  const older = keys.slice(0, 4).map((key, n) => ({
    messageCount: n,
    lastMessageAt: `2025-01-0${n + 1}T00:00:00Z`,
    file: `${names[n]}.json`,
    key,
  }));
  const path = join(dir, ".index.jsonl");
  writeFileSync(
    path,
    `${older.map((line) => JSON.stringify(line)).join("\n")}\nno line\n{"key":"webui:gone","file":"webui_gone.json","messageCount":1}\n`,
  );
  appendFileSync(path, '{"key":"webui:torn","file":"webui_torn.json","lastSequence":3,"lastMess');
  {
    await using index = new SessionIndex(dir, silentLog);
    const rows = await index.rows();
    assert.deepEqual([...rows.newestFirst()], ["webui:ü", "my_channel:c", "webui:b", "webui:a", "webui:torn"]);
    const lines = await index.lines(keys);
    assert.deepEqual(
      lines.map((line) => line?.messageCount),
      [0, 1, 2, 3, 1],
    );
  }
  assert.ok(!readFileSync(path, "utf8").includes("webui:gone"));
  // As a bad disk would: the head can be read, the rest cannot.
  writeFileSync(path, readFileSync(path, "utf8").replace('"messageCount":1,', '"messageCount":1;'));
  await using again = new SessionIndex(dir, silentLog);
  const [line] = await again.lines(["webui:b"]);
  assert.deepEqual([line?.key, line?.messageCount, line?.lastMessage], ["webui:b", 1, "in webui:b"]);
});

test("a session that the list knows and nothing was written of has no line, and others are read from their documents", async (t) => {
  const dir = join(tempFolder(t), "sessions");
  await using index = new SessionIndex(dir, silentLog);
  (await index.rows()).touch("webui:new", 1);
  assert.deepEqual(await index.lines(["webui:new"]), [undefined]);
  mkdirSync(dir);
  writeFileSync(join(dir, "webui_a.json"), JSON.stringify({ key: "webui:a", messages: [] }));
  (await index.rows()).touch("webui:a", 1);
  const [line, none] = await index.lines(["webui:a", "webui:new"]);
  assert.deepEqual([line?.key, none], ["webui:a", undefined]);
});

test("lines that are written while the index is read, and after, are in it", async (t) => {
  const dir = join(tempFolder(t), "sessions");
  mkdirSync(dir, { recursive: true });
  await using index = new SessionIndex(dir, silentLog);
  const put = async (n: number, messageCount: number): Promise<void> => {
    writeFileSync(join(dir, `webui_${n}.json`), "{}");
    await index.put({ key: `webui:${n}`, file: `webui_${n}.json`, messageCount, lastSequence: messageCount });
  };
  await Promise.all([put(1, 1), index.rows(), put(2, 1), put(1, 2)]);
  for (let n = 3; n < 1200; n++) await put(n % 7, n);
  await index.remove("webui:2");
  const keys = [...(await index.rows()).keys()].sort();
  assert.deepEqual(keys, ["webui:0", "webui:1", "webui:3", "webui:4", "webui:5", "webui:6"]);
  const lines = await index.lines([...keys, "webui:2"]);
  assert.deepEqual(
    lines.map((line) => line && line.messageCount % 7),
    [0, 1, 3, 4, 5, 6, undefined],
  );
});
