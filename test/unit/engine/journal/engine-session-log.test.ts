import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { decodeLine, encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { eachLine, LineWalk, type Reading } from "../../../../src/engine/embedded/logs/line-walk.js";
import { findEnd, readRange } from "../../../../src/engine/embedded/logs/log-reading.js";
import { allEvents } from "../../../support/engine/engine-crash.js";
import { logPath, openIn, sessionOf, tempFolder, titled, titlesOf, until } from "../../../support/engine/engine-kit.js";

const other = "telegram:99";

/** Runs a reading over bytes in memory and counts what it reads. */
function readFrom<T>(content: Buffer, reading: Reading<T>) {
  let reads = 0;
  let bytes = 0;
  let step = reading.next();
  while (!step.done) {
    const { position, into } = step.value;
    reads += 1;
    bytes += into.length;
    step = reading.next(content.copy(into, 0, position));
  }
  return { value: step.value, reads, bytes };
}

function logLine(seq: number, textLength: number): Buffer {
  const event = {
    schema_version: "1.0",
    event_id: `evt_${seq}`,
    type: "session_title_generated",
    session_key: sessionOf,
    seq,
    timestamp: new Date(seq).toISOString(),
    source: "agent",
    payload: { title: "x".repeat(textLength), generated_by: "user" },
    metadata: { instance_id: "gw" },
  };
  return encodeLine(JSON.stringify(event));
}

test("ten events from anywhere in a large log cost a few small reads", () => {
  const count = 50_000;
  const content = Buffer.concat(Array.from({ length: count }, (_, n) => logLine(n + 1, 100 + (n % 300))));
  for (const afterSeq of [0, 1, 777, 25_000, 49_985, count - 10]) {
    const { value, reads, bytes } = readFrom(content, readRange({ size: content.length }, afterSeq, 10));
    assert.deepEqual(
      value.events.map(({ seq }) => seq),
      Array.from({ length: 10 }, (_, n) => afterSeq + n + 1),
    );
    assert.ok(reads <= 40 && bytes < 3_000_000, `${reads} reads of ${bytes} bytes out of ${content.length}`);
  }
});

test("any range of a log with lines of any length is read right, also from behind damaged lines", () => {
  const lengths = Array.from({ length: 300 }, (_, n) => (n % 41 === 0 ? 400_000 : n % 7 === 0 ? 70_000 : 50 + n));
  const lines = lengths.map((length, n) => logLine(n + 5, length));
  const content = Buffer.concat(lines);
  for (let afterSeq = 0; afterSeq < 310; afterSeq += 3) {
    const { value } = readFrom(content, readRange({ size: content.length }, afterSeq, 4));
    const expected = lengths
      .map((_, n) => n + 5)
      .filter((seq) => seq > afterSeq)
      .slice(0, 4);
    assert.deepEqual([value.events.map(({ seq }) => seq), value.isDamaged], [expected, false], `after ${afterSeq}`);
  }
  const damagedIndex = 100;
  const damagedAt = lines.slice(0, damagedIndex).reduce((sum, line) => sum + line.length, 0);
  content[damagedAt + 40] = 0;
  for (let afterSeq = 0; afterSeq < 310; afterSeq += 3) {
    const { value } = readFrom(content, readRange({ size: content.length }, afterSeq, 4));
    const touches = afterSeq <= damagedIndex + 5 && afterSeq + 4 >= damagedIndex + 5;
    assert.equal(value.isDamaged, touches, `after ${afterSeq}`);
  }
});

test("the last events of a log are read from its end, and as ever where that is damaged or lacks one", () => {
  const lines = Array.from({ length: 400 }, (_, n) => logLine(n + 1, n % 13 === 0 ? 20_000 : 300));
  const whole = Buffer.concat(lines);
  const damaged = Buffer.from(whole);
  damaged[Buffer.concat(lines.slice(0, 397)).length + 40] = 0;
  const contents = {
    whole,
    damaged,
    cut: whole.subarray(0, whole.length - 20),
    gap: Buffer.concat(lines.filter((_, n) => n !== 396)),
    order: Buffer.concat([...lines.slice(0, 397), ...lines.slice(397).reverse()]),
  };
  for (const [name, content] of Object.entries(contents))
    for (let afterSeq = 370; afterSeq < 400; afterSeq += 1) {
      const ever = readFrom(content, readRange({ size: content.length }, afterSeq, 50));
      const { value, bytes } = readFrom(content, readRange({ size: content.length }, afterSeq, 50, 400));
      // What is damaged in front of all that was asked for is nobody's matter here.
      const isDamaged = ever.value.isDamaged && !(name === "damaged" && afterSeq >= 398);
      assert.deepEqual(value, { ...ever.value, isDamaged }, `${name} after ${afterSeq}`);
      if (name === "whole" && afterSeq > 396) assert.ok(bytes <= 8192, `${bytes} bytes`);
    }
});

test("a walk through lines of any length gives the same ones forward, back, and forward again", () => {
  const contents = ["", "\n", "a", "a\n", "\n\n", "a\nb", "a\n\nb\n", `${"x".repeat(50)}\ny\n`, `a\n${"z".repeat(33)}`];
  for (let n = 0; n < 40; n += 1)
    contents.push(
      Array.from({ length: n * 3 }, (_, i) => ((i * n) % 5 === 0 ? "\n" : "q".repeat((i * 7) % (n + 1)))).join(""),
    );
  for (const text of contents)
    for (const pieceBytes of [1, 2, 7, 16, 64]) {
      const content = Buffer.from(text);
      const size = () => content.length;
      const expected = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
      const seen: string[] = [];
      function* thereAndBack(): Reading<void> {
        const walk = new LineWalk(0, { size, pieceBytes });
        for (let round = 0; round < 2; round += 1) {
          for (let line = yield* walk.next(); line !== undefined; line = yield* walk.next()) {
            assert.equal(line.bytes.toString(), text.slice(line.start, line.end));
            seen.push(line.bytes.toString());
          }
          for (let line = yield* walk.previous(); line !== undefined; line = yield* walk.previous()) {
            assert.equal(line.bytes.toString(), text.slice(line.start, line.end));
            seen.push(line.bytes.toString());
          }
        }
        yield* walk.each(({ bytes }) => seen.push(bytes.toString()));
      }
      readFrom(content, thereAndBack());
      const back = expected.toReversed();
      assert.deepEqual(
        seen,
        [...expected, ...back, ...expected, ...back, ...expected],
        JSON.stringify([text, pieceBytes]),
      );
    }
});

test("each line of a file is given with its place, also of one that grows meanwhile and of none", async (t) => {
  const path = join(tempFolder(t), "lines");
  const seen: unknown[] = [];
  const read = () => eachLine(path, (bytes, { line, byte }) => seen.push([bytes.toString(), line, byte]));
  await read();
  assert.deepEqual(seen, []);
  const long = "x".repeat(1_500_000);
  fs.writeFileSync(path, `a\n${long}`);
  const reading = read();
  fs.appendFileSync(path, "y\nb");
  await reading;
  assert.deepEqual(seen, [
    ["a\n", 1, 0],
    [`${long}y\n`, 2, 2],
    ["b", 3, 1_500_004],
  ]);
});

test("the end of a log is found from the end, behind any amount of damaged bytes", () => {
  const lines = [logLine(1, 50), logLine(2, 2_000_000), logLine(3, 50), logLine(4, 300_000)];
  const content = Buffer.concat([...lines, Buffer.alloc(500_000, "a\nb")]);
  const good = content.length - 500_000;
  assert.deepEqual(readFrom(content, findEnd({ size: content.length })).value, {
    goodEnd: good,
    lastSeq: 4,
    lastTime: 4,
  });
  const torn = content.subarray(0, good - 1);
  assert.equal(readFrom(torn, findEnd({ size: torn.length })).value.lastSeq, 3);
  const { reads, bytes } = readFrom(content.subarray(0, good), findEnd({ size: good }));
  assert.ok(reads < 6 && bytes < 700_000, `${reads} reads of ${bytes} bytes`);
  assert.equal(readFrom(Buffer.alloc(10, "x"), findEnd({ size: 10 })).value.lastSeq, 0);
});

test("a line of more than a megabyte is stored and read back, from memory and from the file", async (t) => {
  const home = tempFolder(t);
  const long = "ä\u2028\n".repeat(300_000);
  const { engine } = await openIn(home);
  for (const title of ["a", long, "b", "c"]) await engine.append(sessionOf, [titled(title)], { durable: true });
  await engine[Symbol.asyncDispose]();
  const { engine: reopened } = await openIn(home);
  const { events } = await reopened.events(sessionOf, { afterSeq: 1, limit: 2 });
  assert.deepEqual(titlesOf(events), [long, "b"]);
  await reopened[Symbol.asyncDispose]();
});

test("opening reads the journal and no session log, however many there are", async (t) => {
  const home = tempFolder(t);
  const first = await openIn(home, { quietMs: 60_000 });
  for (let n = 0; n < 30; n += 1) await first.engine.append(`telegram:${n}`, [titled("x")], { durable: false });
  await first.engine.flush();
  fs.cpSync(join(home, "journal"), join(home, "copy"), { recursive: true });
  fs.copyFileSync(join(home, "journal.mark"), join(home, "mark"));
  await first.engine[Symbol.asyncDispose]();
  fs.rmSync(join(home, "journal"), { recursive: true });
  fs.renameSync(join(home, "copy"), join(home, "journal"));
  fs.renameSync(join(home, "mark"), join(home, "journal.mark"));
  const asked: string[] = [];
  const { engine } = await openIn(home, {
    quietMs: 60_000,
    logs: {
      pathOf: (key) => {
        asked.push(key);
        return logPath(home, key);
      },
    },
  });
  assert.deepEqual(asked, []);
  assert.equal(await engine.lastSequence("telegram:7"), 1);
  assert.deepEqual([...new Set(asked)], ["telegram:7"]);
  await engine[Symbol.asyncDispose]();
});

test("a session's log is written once the session is quiet, and by then equals what was published", async (t) => {
  const home = tempFolder(t);
  const { engine, published } = await openIn(home, { quietMs: 20 });
  await engine.append(sessionOf, [titled("1"), titled("2")], { durable: false });
  const path = logPath(home, sessionOf);
  await until("the log is there", () => fs.existsSync(path) && fs.readFileSync(path, "utf8").split("\n").length === 3);
  const lines = fs.readFileSync(path, "utf8").trimEnd().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line.slice(9))),
    published,
  );
  await engine[Symbol.asyncDispose]();
});

test("after a crash a log that ends early, in a torn line, or late is brought in line with the journal", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  await engine.append(sessionOf, ["1", "2", "3", "4", "5"].map(titled), { durable: true });
  await engine.flush();
  const path = logPath(home, sessionOf);
  const log = fs.readFileSync(path);
  await engine.append(sessionOf, ["6", "7", "8"].map(titled), { durable: true });
  const cuts = Array.from({ length: Math.ceil(log.length / 41) + 1 }, (_, n) => log.subarray(0, n * 41));
  // After a power cut a page in the middle may be empty while later ones are there.
  const hole = Buffer.from(log).fill(0, log.indexOf('"title":"3"'), log.indexOf('"title":"4"'));
  for (const left of [...cuts, hole]) {
    const crashed = tempFolder(t);
    fs.cpSync(home, crashed, { recursive: true });
    fs.writeFileSync(logPath(crashed, sessionOf), left);
    const reopened = await openIn(crashed, { quietMs: 60_000 });
    const before = await allEvents(reopened.engine, sessionOf);
    assert.deepEqual(titlesOf(before), ["1", "2", "3", "4", "5", "6", "7", "8"], `with ${left.length} bytes`);
    await reopened.engine[Symbol.asyncDispose]();
    const written = fs.readFileSync(logPath(crashed, sessionOf)).toString().trimEnd().split("\n");
    assert.deepEqual(
      written.map((line) => decodeLine(Buffer.from(line))),
      before,
    );
  }
  await engine[Symbol.asyncDispose]();
});

test("a log whose end is damaged and that the journal does not have is kept as it was, and its last number is not used again", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home);
  await engine.append(sessionOf, ["1", "2", "3"].map(titled), { durable: true });
  await engine[Symbol.asyncDispose]();
  const path = logPath(home, sessionOf);
  const bytes = fs.readFileSync(path);
  const torn = bytes.subarray(0, bytes.length - 5);
  fs.writeFileSync(path, torn);
  const { engine: reopened, log } = await openIn(home);
  const [next] = await reopened.append(sessionOf, [titled("next")], { durable: true });
  assert.ok((next?.seq ?? 0) > 3);
  const aside = fs.readdirSync(join(home, "sessions")).filter((name) => name.includes(".damaged-"));
  assert.deepEqual(
    aside.map((name) => fs.readFileSync(join(home, "sessions", name))),
    [torn],
  );
  assert.ok(log.lines.some(({ level, message }) => level === "error" && message.includes("was damaged")));
  await reopened[Symbol.asyncDispose]();
});

test("a session whose log cannot be written keeps its events in the journal and holds up no other session", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000, journal: { segmentBytes: 20_000 } });
  const path = logPath(home, sessionOf);
  await engine.append(sessionOf, [titled("kept")], { durable: true });
  fs.mkdirSync(path, { recursive: true });
  const titles = Array.from({ length: 200 }, (_, n) => `t${n}`);
  for (const title of titles) await engine.append(other, [titled(title)], { durable: false });
  await until("a new segment has begun", () => !fs.existsSync(join(home, "journal", "00000001.log")));
  assert.ok(fs.existsSync(logPath(home, other)));
  assert.deepEqual(titlesOf(await allEvents(engine, other)), titles);
  await engine[Symbol.asyncDispose]();
  fs.rmdirSync(path);
  const { engine: reopened } = await openIn(home);
  assert.deepEqual(titlesOf(await allEvents(reopened, sessionOf)), ["kept"]);
  await reopened[Symbol.asyncDispose]();
});

test("a session stays deleted when the process ended before its log was off the disk", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  await engine.append(sessionOf, ["1", "2"].map(titled), { durable: true });
  await engine.flush();
  const log = fs.readFileSync(logPath(home, sessionOf));
  await engine.deleteSession(sessionOf);
  assert.ok(!fs.existsSync(logPath(home, sessionOf)));
  const crashed = tempFolder(t);
  fs.cpSync(home, crashed, { recursive: true });
  await engine[Symbol.asyncDispose]();
  const segment = join(crashed, "journal", "00000001.log");
  const journal = fs.readFileSync(segment);
  const lastLine = journal.lastIndexOf(10, journal.length - 2) + 1;
  assert.match(journal.subarray(lastLine).toString(), /"o":"gone"/);
  fs.writeFileSync(segment, journal.subarray(0, lastLine));
  fs.writeFileSync(logPath(crashed, sessionOf), log);
  const { engine: reopened } = await openIn(crashed);
  assert.ok(!fs.existsSync(logPath(crashed, sessionOf)));
  assert.deepEqual(await reopened.events(sessionOf, { afterSeq: 0, limit: 5 }), { events: [], hasMore: false });
  assert.equal((await reopened.append(sessionOf, [titled("3")], { durable: true }))[0]?.seq, 3);
  await reopened[Symbol.asyncDispose]();
});
