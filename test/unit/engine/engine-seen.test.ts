import assert from "node:assert/strict";
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { listStateSources } from "../../../src/backup/sources.js";
import { verifyStoredEvents } from "../../../src/engine/embedded/inspect/verify.js";
import { repairJournal } from "../../../src/engine/embedded/journal/repair.js";
import { SeenIds } from "../../../src/engine/embedded/seen/seen-ids.js";
import { SeenKeeper } from "../../../src/engine/embedded/seen/seen-keeper.js";
import type { Engine } from "../../../src/engine/engine.js";
import { silentLog } from "../../../src/log.js";
import {
  consuming,
  inbound,
  logPath,
  openIn,
  queued,
  sessionOf,
  tempFolder,
  until,
} from "../../support/engine/engine-kit.js";

const week = 7 * 24 * 3600 * 1000;

/** Accepts messages, as a platform hands them out, and ends each. */
async function takeIn(engine: Engine, from: number, count: number): Promise<void> {
  const handling = consuming(engine, "inbound", (delivery) => delivery.commit({ events: [], emit: [] }).then(() => {}));
  for (let n = from; n < from + count; n += 50) {
    const some = Array.from({ length: Math.min(50, from + count - n) }, (_, index) => n + index);
    await Promise.all(some.map((id) => engine.accept(message(id), { events: [] })));
  }
  await until("all are done", () => engine.status().inboundWaiting === 0, 20_000);
  await handling.stop();
}

function message(n: number, id = `msg_${n}`) {
  return inbound(id, `telegram:${n % 40}`, { dedupId: `telegram:update:${n}` });
}

function journalBytes(home: string): number {
  const folder = join(home, "journal");
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .reduce((sum, name) => sum + fs.statSync(join(folder, name)).size, 0);
}

function sealedIn(home: string): readonly string[] {
  const folder = join(home, "journal", "seen");
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".ids")) : [];
}

test("a checkpoint does not hold the ids of what was accepted, and each is known after a restart", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home, { journal: { segmentBytes: 100_000 } });
  await takeIn(first.engine, 0, 8000);
  await first.engine[Symbol.asyncDispose]();
  assert.ok(journalBytes(home) < 220_000, `the journal is ${journalBytes(home)} bytes`);
  const second = await openIn(home);
  for (let n = 0; n < 8000; n += 7) {
    assert.equal((await second.engine.accept(message(n, "other"), { events: [] })).status, "duplicate");
    assert.equal((await second.engine.accept(inbound(`msg_${n}`), { events: [] })).status, "duplicate");
  }
  assert.equal((await second.engine.accept(message(8000), { events: [] })).status, "accepted");
  assert.deepEqual(second.log.lines, []);
  await second.engine[Symbol.asyncDispose]();
});

test("ids are forgotten after seven days, wherever they are, and a file goes with its last id", async (t) => {
  const home = tempFolder(t);
  let time = Date.parse("2026-01-01T00:00:00Z");
  const options = { now: () => time, journal: { sealAtLeast: 100, segmentBytes: 100_000 } };
  const first = await openIn(home, options);
  await takeIn(first.engine, 0, 200);
  await first.engine[Symbol.asyncDispose]();
  assert.equal(sealedIn(home).length, 1);
  time += week - 2000;
  const second = await openIn(home, options);
  assert.equal((await second.engine.accept(message(7), { events: [] })).status, "duplicate");
  time += 4000;
  assert.equal((await second.engine.accept(message(7), { events: [] })).status, "accepted");
  await second.engine[Symbol.asyncDispose]();
  assert.deepEqual(sealedIn(home), []);
});

test("ids that are in no file are forgotten after seven days, also by an engine that runs on", async (t) => {
  const home = tempFolder(t);
  let time = Date.parse("2026-01-01T00:00:00Z");
  const options = { now: () => time, journal: { sealAtLeast: Number.POSITIVE_INFINITY } };
  const first = await openIn(home, options);
  await takeIn(first.engine, 0, 3);
  await first.engine[Symbol.asyncDispose]();
  time += week - 1;
  const { engine } = await openIn(home, options);
  assert.equal((await engine.accept(message(1), { events: [] })).status, "duplicate");
  await takeIn(engine, 3, 1);
  time += 1;
  assert.equal((await engine.accept(message(1), { events: [] })).status, "accepted");
  assert.equal((await engine.accept(message(3), { events: [] })).status, "duplicate", "one that is younger");
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(sealedIn(home), []);
});

test("many small files become few, and every id stays known", async (t) => {
  const home = tempFolder(t);
  const options = { journal: { sealAtLeast: 50, segmentBytes: 20_000 } };
  const { engine, log } = await openIn(home, options);
  await takeIn(engine, 0, 3000);
  await until("the files are few", () => sealedIn(home).length < 30);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(log.lines, []);
  const again = await openIn(home, options);
  for (let n = 0; n < 3000; n += 1)
    assert.equal((await again.engine.accept(message(n), { events: [] })).status, "duplicate", `message ${n}`);
  await again.engine[Symbol.asyncDispose]();
});

test("ids that a journal of before holds inline are known, and move into a file", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home, { journal: { sealAtLeast: Number.POSITIVE_INFINITY } });
  await takeIn(first.engine, 0, 300);
  await first.engine[Symbol.asyncDispose]();
  assert.deepEqual(sealedIn(home), []);
  const second = await openIn(home, { journal: { sealAtLeast: 100 } });
  assert.equal((await second.engine.accept(message(299), { events: [] })).status, "duplicate");
  await second.engine[Symbol.asyncDispose]();
  assert.equal(sealedIn(home).length, 1);
  const third = await openIn(home);
  assert.equal((await third.engine.accept(message(0), { events: [] })).status, "duplicate");
  await third.engine[Symbol.asyncDispose]();
});

/** A home with one sealed file of 1000 ids. */
async function homeWithFile(t: TestContext): Promise<{ readonly home: string; readonly file: string }> {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { journal: { sealAtLeast: 100 } });
  await engine.append(sessionOf, [queued("msg_said")], { durable: true });
  await takeIn(engine, 0, 500);
  await engine[Symbol.asyncDispose]();
  const [name = ""] = sealedIn(home);
  return { home, file: join(home, "journal", "seen", name) };
}

function flip(path: string, position: number): void {
  const bytes = fs.readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 1;
  fs.writeFileSync(path, bytes);
}

async function knownOf(engine: Engine): Promise<number> {
  let known = 0;
  for (let n = 0; n < 500; n += 1)
    if ((await engine.accept(inbound(`msg_${n}`, `telegram:${n}`), { events: [] })).status === "duplicate") known += 1;
  return known;
}

test("a flip in the head or behind the blocks costs no id", async (t) => {
  for (const place of [5, -5]) {
    const { home, file } = await homeWithFile(t);
    flip(file, place < 0 ? fs.statSync(file).size + place : place);
    const { engine } = await openIn(home);
    assert.equal(await knownOf(engine), 500);
    await engine[Symbol.asyncDispose]();
  }
});

test("a flip in a block costs the ids of that block, is told by name, and stops nothing", async (t) => {
  const { home, file } = await homeWithFile(t);
  flip(file, 4096 + 300);
  const { engine, log } = await openIn(home);
  const known = await knownOf(engine);
  assert.ok(known < 500 && known > 200, `${known} are known`);
  const { problems = [] } = engine.status();
  assert.equal(problems.length, 1);
  assert.ok(problems[0]?.includes(`${file} is damaged in its block 1 of 5`), problems[0]);
  assert.equal(log.lines.filter(({ level }) => level === "error").length, 1);
  await engine[Symbol.asyncDispose]();
});

test("a file that is gone is told by name, and stops nothing", async (t) => {
  const { home, file } = await homeWithFile(t);
  fs.rmSync(file);
  const { engine } = await openIn(home);
  assert.equal(await knownOf(engine), 0);
  assert.match(engine.status().problems?.[0] ?? "", /ids could not be opened: ENOENT.*may be answered a second time/);
  await engine[Symbol.asyncDispose]();
});

test("checking the stored events finds damage in a file of ids", async (t) => {
  const { home, file } = await homeWithFile(t);
  const logPathOf = (key: string): string => logPath(home, key);
  const check = () =>
    verifyStoredEvents({ home, logs: [logPathOf(sessionOf)] }, { logPathOf, signal: new AbortController().signal });
  assert.deepEqual((await check()).problems, []);
  flip(file, 4096 + 300);
  assert.deepEqual(
    (await check()).problems.map(({ kind, message: text }) => [kind, text.includes(file)]),
    [["journal", true]],
  );
});

test("a repaired journal knows the ids in the files, also when their names were in the damaged part", async (t) => {
  const { home } = await homeWithFile(t);
  const { engine } = await openIn(home);
  await engine.append(sessionOf, [queued("msg_later")], { durable: true });
  await engine[Symbol.asyncDispose]();
  const journal = join(home, "journal");
  const [name = ""] = fs.readdirSync(journal).filter((each) => each.endsWith(".log"));
  const text = fs.readFileSync(join(journal, name), "latin1");
  flip(join(journal, name), text.indexOf('"sealed"'));
  await assert.rejects(openIn(home), { kind: "corrupt" });
  assert.equal((await repairJournal(home)).setAside.length, 1);
  const repaired = await openIn(home);
  assert.equal(await knownOf(repaired.engine), 500);
  await repaired.engine[Symbol.asyncDispose]();
});

test("what ids take in memory and on the disk stays small, and so does the number of their files", async (t) => {
  const folder = tempFolder(t);
  const ids = new SeenIds();
  const now = Date.now();
  const keeper = new SeenKeeper({
    ids,
    folder,
    log: silentLog,
    now: () => now,
    boundary: () => {},
    note: async (files) => ids.replaceFiles(files),
  });
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 20_000; n += 1) ids.remember(`d:telegram:update:${round * 20_000 + n}`, now);
    (await keeper.seal())();
    await keeper.merge();
  }
  assert.equal(ids.recent.size, 0);
  assert.ok(ids.files.length <= 20, `${ids.files.length} files`);
  const inMemory = ids.files.reduce((sum, { name }) => sum + (ids.opened(name)?.memoryBytes ?? 0), 0);
  assert.ok(inMemory < 4 * 400_000, `${inMemory} bytes`);
  for (let n = 0; n < 400_000; n += 997) assert.ok(ids.has(`d:telegram:update:${n}`, now), `id ${n}`);
  let looked = 0;
  for (let n = 400_000; n < 410_000; n += 1) if (ids.has(`d:telegram:update:${n}`, now)) looked += 1;
  assert.equal(looked, 0);
  const onDisk = fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(join(folder, name)).size, 0);
  assert.ok(onDisk < 25 * 400_000, `${onDisk} bytes`);
  ids.close();
});

test("a backup beside a running gateway takes the files of ids, whole", async (t) => {
  const { home, file } = await homeWithFile(t);
  const [segment = ""] = fs.readdirSync(join(home, "journal")).filter((name) => name.endsWith(".log"));
  const held = { path: join(home, "journal", segment), bytes: 10, sinceMs: Date.now() };
  const plan = { home, workspace: tempFolder(t), config: undefined, hasSecrets: false, held, exclude: [] };
  const found = new Map<string, { readonly bytes: number | undefined; readonly isNeeded: boolean | undefined }>();
  for await (const { path, type, bytes, isNeeded } of listStateSources(plan, () => {}))
    if (type === "file" && path.startsWith("home/journal/")) found.set(path, { bytes, isNeeded });
  assert.deepEqual(Object.fromEntries(found), {
    [`home/journal/${segment}`]: { bytes: 10, isNeeded: true },
    [`home/journal/seen/${basename(file)}`]: { bytes: undefined, isNeeded: true },
  });
});
