import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { loadJournal } from "../../../../src/engine/embedded/journal/load.js";
import { formatVersion } from "../../../../src/engine/embedded/journal/operations.js";
import { repairJournal } from "../../../../src/engine/embedded/journal/repair.js";
import { encodeHead } from "../../../../src/engine/embedded/journal/segment.js";
import { EngineError } from "../../../../src/errors.js";
import { silentLog } from "../../../../src/log.js";
import {
  consuming,
  inbound,
  openIn,
  outbound,
  queued,
  recordingLog,
  sessionOf,
  tempFolder,
  titled,
  titlesOf,
  until,
} from "../../../support/engine/engine-kit.js";
import { withoutProc } from "../../../support/worlds/needs.js";

const segment = join("journal", "00000001.log");

/** A journal as it is after some durable accepts, one transaction each, without a clean end. */
async function journalOf(
  t: TestContext,
  accepts: number,
): Promise<{ bytes: Buffer; lineStarts: readonly number[]; home: string }> {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  for (let n = 1; n <= accepts; n += 1) await engine.accept(inbound(`msg_${n}`), { events: [queued(`msg_${n}`)] });
  const bytes = fs.readFileSync(join(home, segment));
  await engine[Symbol.asyncDispose]();
  const lineStarts = [0];
  for (let lf = bytes.indexOf(10); lf !== -1; lf = bytes.indexOf(10, lf + 1)) lineStarts.push(lf + 1);
  return { bytes, lineStarts, home: tempFolder(t) };
}

function writeJournal(home: string, bytes: Buffer): void {
  fs.rmSync(join(home, "journal"), { recursive: true, force: true });
  fs.mkdirSync(join(home, "journal"), { recursive: true });
  fs.writeFileSync(join(home, segment), bytes);
}

function flipped(bytes: Buffer, offset: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[offset] = (copy[offset] ?? 0) ^ 0x04;
  return copy;
}

test("a journal that was cut at any byte of its last transactions holds exactly the whole ones before the cut", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 3);
  const firstCut = lineStarts.at(-3) ?? 0;
  for (let cut = firstCut; cut <= bytes.length; cut += 1) {
    writeJournal(home, bytes.subarray(0, cut));
    const log = recordingLog();
    const { records, size } = await loadJournal(home, log);
    // Before the accepts are the head, its end, and the note that a process began.
    const whole = lineStarts.filter((start) => start <= cut).length - 4;
    assert.equal(records.work.count("inbound"), whole, `cut at ${cut}`);
    assert.equal(records.sessions.find(sessionOf)?.lastSeq, whole === 0 ? undefined : whole);
    assert.equal(fs.statSync(join(home, segment)).size, size);
    const isTorn = !lineStarts.includes(cut);
    assert.deepEqual(
      log.lines.map(({ level, fields }) => [level, fields.bytes]),
      isTorn ? [["warn", cut - size]] : [],
    );
  }
});

test("a damaged byte before the last offset known to be synced is refused, with the place and what to do", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 4);
  const lastLine = lineStarts.at(-2) ?? 0;
  for (let offset = 0; offset < lastLine; offset += 13) {
    const damaged = flipped(bytes, offset);
    writeJournal(home, damaged);
    await assert.rejects(loadJournal(home, silentLog), (error: unknown) => {
      assert.ok(error instanceof EngineError && error.kind === "corrupt");
      const lineStart = lineStarts.filter((start) => start <= offset).at(-1);
      assert.match(error.message, new RegExp(`00000001\\.log is damaged at byte ${lineStart}\\b.*maxclaw repair`));
      return true;
    });
    assert.deepEqual(fs.readFileSync(join(home, segment)), damaged, "nothing was changed");
  }
});

test("a damaged byte behind the last offset known to be synced is a torn tail and cut", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 4);
  const lastLine = lineStarts.at(-2) ?? 0;
  for (let offset = lastLine; offset < bytes.length; offset += 13) {
    writeJournal(home, flipped(bytes, offset));
    const { records, size } = await loadJournal(home, silentLog);
    assert.deepEqual([records.work.count("inbound"), size], [3, lastLine]);
  }
});

test("a quiet journal names how far it is synced, so that later damage to its last transaction is noticed", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  const { size } = fs.statSync(join(home, segment));
  await until("the synced offset is written down", () => fs.statSync(join(home, segment)).size > size);
  const bytes = fs.readFileSync(join(home, segment));
  await engine[Symbol.asyncDispose]();
  const copy = tempFolder(t);
  writeJournal(copy, flipped(bytes, size - 20));
  await assert.rejects(loadJournal(copy, silentLog), /is damaged at byte/);
});

test("repairing keeps every undamaged transaction and sets the damaged file aside", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 4);
  const second = lineStarts.at(-4) ?? 0;
  const damaged = flipped(bytes, second + 30);
  writeJournal(home, damaged);
  const repair = await repairJournal(home);
  assert.deepEqual([repair.keptTransactions, repair.lostBytes], [4, (lineStarts.at(-3) ?? 0) - second]);
  assert.deepEqual(
    repair.setAside.map((path) => fs.readFileSync(path)),
    [damaged],
  );
  assert.match(repair.setAside[0] ?? "", /00000001\.log\.damaged-/);
  const { engine } = await openIn(home);
  assert.deepEqual(
    (await engine.waiting("inbound", sessionOf)).map(({ id }) => id),
    ["msg_1", "msg_3", "msg_4"],
  );
  const [event] = await engine.append(sessionOf, [titled("after")], { durable: true });
  // 5 is the event that says what was lost.
  assert.equal(event?.seq, 6);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(await repairJournal(home), { setAside: [], lostBytes: 0, keptTransactions: 0 });
});

test("repairing a damaged segment beside one that was not finished takes nothing twice", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 3);
  writeJournal(home, bytes);
  const { records, tx } = await loadJournal(home, silentLog);
  const head = encodeHead(2, tx, records.checkpoint());
  fs.writeFileSync(join(home, segment), flipped(bytes, (lineStarts.at(-3) ?? 0) + 30));
  fs.writeFileSync(join(home, "journal", "00000002.log"), head.subarray(0, head.lastIndexOf(10, head.length - 2) + 1));
  assert.equal((await repairJournal(home)).setAside.length, 2);
  const repaired = await openIn(home);
  const ids = (await repaired.engine.waiting("inbound", sessionOf)).map(({ id }) => id);
  assert.deepEqual(ids.toSorted(), ["msg_1", "msg_2", "msg_3"]);
  const { events } = await repaired.engine.events(sessionOf, { afterSeq: 0, limit: 10 });
  assert.deepEqual(new Set(events.map(({ seq }) => seq)).size, events.length);
  await repaired.engine[Symbol.asyncDispose]();
});

test("a journal of a newer version is refused by name and left alone", async (t) => {
  const home = tempFolder(t);
  const newer = Buffer.concat([
    encodeLine(JSON.stringify({ format: "maxclaw-journal", v: formatVersion + 1, segment: 1, tx: 0 })),
    encodeLine(JSON.stringify({ checkpointEnd: 0 })),
  ]);
  writeJournal(home, newer);
  await assert.rejects(loadJournal(home, silentLog), /format 3.*newer version: update maxclaw/);
  await assert.rejects(repairJournal(home), /format 3/);
  assert.deepEqual(fs.readFileSync(join(home, segment)), newer);
});

test("a new segment whose checkpoint was cut at any line is dropped, and the old one counts", async (t) => {
  const { bytes, lineStarts, home } = await journalOf(t, 2);
  const head = bytes.subarray(0, lineStarts[1]);
  for (const part of [
    Buffer.alloc(0),
    head.subarray(0, 20),
    head,
    Buffer.concat([head, encodeLine(JSON.stringify({ checkpointEnd: 3 }))]),
  ]) {
    writeJournal(home, bytes);
    fs.writeFileSync(join(home, "journal", "00000002.log"), part);
    const { records, segment: chosen } = await loadJournal(home, silentLog);
    assert.deepEqual([records.work.count("inbound"), chosen.number], [2, 1]);
    assert.deepEqual(fs.readdirSync(join(home, "journal")), ["00000001.log"]);
  }
});

test("a failed fdatasync ends everything: who waits is refused, nothing is published, nothing more is written", {
  skip: withoutProc(),
}, async (t) => {
  const home = tempFolder(t);
  const fatal: Error[] = [];
  let isBreaking = false;
  const { engine, published } = await openIn(home, {
    quietMs: 60_000,
    process: { onFatal: (error) => fatal.push(error) },
    onBoundary: (name) => {
      if (name === "accept:before-sync" && isBreaking) replaceFd(join(home, segment));
    },
  });
  await engine.append(sessionOf, [titled("before")], { durable: true });
  isBreaking = true;
  await assert.rejects(engine.accept(inbound("msg_1"), { events: [queued("msg_1")] }), { kind: "persistence" });
  assert.equal(fatal.length, 1);
  await assert.rejects(engine.append(sessionOf, [titled("after")], { durable: false }), { kind: "persistence" });
  assert.deepEqual([titlesOf(published), published.length, engine.status().writable], [["before"], 1, false]);
  await engine[Symbol.asyncDispose]();
  assert.equal(fatal.length, 1);
});

/** Puts something that cannot be synced in place of an open file. */
function replaceFd(path: string): void {
  const fd = fs.readdirSync("/proc/self/fd").find((name) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false;
    }
  });
  assert.ok(fd !== undefined);
  fs.closeSync(Number(fd));
  assert.equal(fs.openSync("/dev/null", "a"), Number(fd));
}

test("one fdatasync serves everybody who waits at that moment, and written appends wait for none", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => engine.accept(inbound(`msg_${n}`, `telegram:${n}`), { events: [] })),
  );
  assert.ok(engine.status().syncs <= 3, `${engine.status().syncs} syncs for 50 accepts at once`);
  const { syncs } = engine.status();
  for (let n = 0; n < 20; n += 1) await engine.append(sessionOf, [titled("x")], { durable: false });
  assert.equal(engine.status().syncs, syncs);
  await engine[Symbol.asyncDispose]();
});

test("a simple turn waits for two fdatasyncs: accepting and the commit", async (t) => {
  const { engine } = await openIn(tempFolder(t));
  const consumer = consuming(engine, "inbound", async (delivery) => {
    for (const title of ["a", "b", "c"]) await delivery.append([titled(title)], { durable: false });
    await delivery.commit({ events: [titled("d")], emit: [outbound("r")] });
  });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  await until(
    "it is done",
    async () => engine.status().inboundWaiting === 0 && (await engine.waiting("outbound", "telegram:42")).length === 1,
  );
  assert.equal(engine.status().syncs, 2);
  await consumer.stop();
  await engine[Symbol.asyncDispose]();
});
