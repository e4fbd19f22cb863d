import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { salvageEvents } from "../../../../src/engine/embedded/damage/salvage.js";
import { encodeLine } from "../../../../src/engine/embedded/journal/line.js";
import { repairJournal } from "../../../../src/engine/embedded/journal/repair.js";
import { damageKind, lostEvents, parseLogDamage } from "../../../../src/engine/log-damage.js";
import type { StoredEvent } from "../../../../src/events/event.js";
import {
  inbound,
  logPath,
  type OpenedEngine,
  openIn,
  queued,
  sessionOf,
  tempFolder,
  titled,
  titlesOf,
} from "../../../support/engine/engine-kit.js";

const titles = Array.from({ length: 12 }, (_, n) => `title ${n + 1} „Jäger“ * ${"JJ*".repeat(n)}`);

interface Home {
  readonly home: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly events: readonly StoredEvent[];
  /** Where each line begins, and the end of the file. */
  readonly borders: readonly number[];
}

/** A home after an orderly stop: its events stand in the session log alone. */
async function atRest(t: TestContext): Promise<Home> {
  const home = tempFolder(t);
  const { engine } = await openIn(home);
  await engine.append(sessionOf, titles.map(titled), { durable: true });
  const events = await allEvents(engine, sessionOf);
  await engine[Symbol.asyncDispose]();
  const path = logPath(home, sessionOf);
  const bytes = fs.readFileSync(path);
  const borders = [0];
  for (let lf = bytes.indexOf(10); lf !== -1; lf = bytes.indexOf(10, lf + 1)) borders.push(lf + 1);
  return { home, path, bytes, events, borders };
}

function copyOf(t: TestContext, { home }: Home, damaged: Buffer): { readonly home: string; readonly path: string } {
  const copy = tempFolder(t);
  fs.cpSync(home, copy, { recursive: true });
  const path = logPath(copy, sessionOf);
  fs.writeFileSync(path, damaged);
  return { home: copy, path };
}

/** All that can be read, page by page. */
async function allEvents(engine: OpenedEngine["engine"], key: string): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await engine.events(key, { afterSeq: all.at(-1)?.seq ?? 0, limit: 5 });
    all.push(...page.events);
    hasMore = page.hasMore;
  }
  return all;
}

function setAside(home: string): readonly string[] {
  return fs.readdirSync(join(home, "sessions")).filter((name) => name.includes(".damaged-"));
}

async function damageOf({ engine }: OpenedEngine) {
  return parseLogDamage((await engine.records.open(damageKind)).get(sessionOf));
}

const own = (events: readonly StoredEvent[]): readonly StoredEvent[] =>
  events.filter(({ type }) => type === "session_title_generated");

function flipped(bytes: Buffer, offset: number, mask: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[offset] = (bytes[offset] ?? 0) ^ mask;
  return copy;
}

test("each single flipped bit of a line is found by its checksum and turned back", async (t) => {
  const { events } = await atRest(t);
  const line = encodeLine(JSON.stringify(events[3]));
  for (let bit = 0; bit < line.length * 8; bit += 1) {
    const damaged = flipped(line, bit >> 3, 1 << (bit & 7));
    const pieces: Buffer[] = [];
    for (let start = 0; start < damaged.length; ) {
      const lf = damaged.indexOf(10, start);
      const end = lf === -1 ? damaged.length : lf + 1;
      pieces.push(damaged.subarray(start, end));
      start = end;
    }
    assert.deepEqual(salvageEvents(pieces, sessionOf), [events[3]], `bit ${bit}`);
  }
});

test("a flipped bit in any line of a log costs nothing: the log is mended, the damaged one kept, and all of it told", async (t) => {
  const made = await atRest(t);
  const { bytes, events, borders } = made;
  for (const [index, start] of borders.slice(0, -1).entries()) {
    const damaged = flipped(bytes, start + 3 + index * 17, 0x10);
    const { home, path } = copyOf(t, made, damaged);
    const opened = await openIn(home);
    const read = await allEvents(opened.engine, sessionOf);
    assert.deepEqual(own(read), events, `line ${index + 1}`);
    const next = await opened.engine.append(sessionOf, [titled("next")], { durable: true });
    assert.ok((next[0]?.seq ?? 0) > events.length);
    const damage = await damageOf(opened);
    assert.ok(damage !== undefined);
    assert.deepEqual([lostEvents(damage), damage.restored, damage.isTold], [0, 1, false]);
    assert.ok(opened.log.lines.some(({ level, message }) => level === "error" && message.includes("damaged")));
    assert.deepEqual(
      setAside(home).map((name) => fs.readFileSync(join(home, "sessions", name))),
      [damaged],
    );
    assert.equal(damage.keptIn, join(home, "sessions", setAside(home)[0] ?? ""));
    await opened.engine[Symbol.asyncDispose]();
    const mended = fs.readFileSync(path);
    assert.deepEqual(mended.subarray(0, bytes.length), bytes);
    const again = await openIn(home);
    const all = await allEvents(again.engine, sessionOf);
    assert.deepEqual(
      all.map(({ seq }) => seq),
      all.map((_, n) => n + 1),
    );
    assert.deepEqual(all.filter(({ type }) => type === "session_log_mended").length, 1, "it is told once");
    await again.engine[Symbol.asyncDispose]();
    assert.equal(setAside(home).length, 1);
  }
});

const damages: readonly {
  readonly name: string;
  readonly make: (made: Home) => Buffer;
  readonly lost: readonly number[];
}[] = [
  {
    name: "a block of zeros over three lines",
    make: ({ bytes, borders }) => Buffer.from(bytes).fill(0, (borders[4] ?? 0) + 10, (borders[6] ?? 0) + 20),
    lost: [5, 6, 7],
  },
  {
    name: "a line that is gone",
    make: ({ bytes, borders }) => Buffer.concat([bytes.subarray(0, borders[2]), bytes.subarray(borders[3])]),
    lost: [3],
  },
  {
    name: "the first lines gone",
    make: ({ bytes, borders }) => bytes.subarray(borders[2]),
    lost: [1, 2],
  },
  {
    name: "two lines joined",
    make: ({ bytes, borders }) => Buffer.concat([bytes.subarray(0, (borders[5] ?? 0) - 1), bytes.subarray(borders[5])]),
    lost: [],
  },
  {
    name: "two lines in each other's place",
    make: ({ bytes, borders }) =>
      Buffer.concat([
        bytes.subarray(0, borders[4]),
        bytes.subarray(borders[5], borders[6]),
        bytes.subarray(borders[4], borders[5]),
        bytes.subarray(borders[6]),
      ]),
    lost: [],
  },
  {
    name: "rubbish in the midst of it",
    make: ({ bytes, borders }) =>
      Buffer.concat([bytes.subarray(0, borders[7]), Buffer.from([0, 255, 10, 7, 200]), bytes.subarray(borders[7])]),
    lost: [],
  },
  {
    name: "many flipped bits in one line",
    make: ({ bytes, borders }) => Buffer.from(bytes).fill("~", (borders[8] ?? 0) + 40, (borders[8] ?? 0) + 90),
    lost: [9],
  },
];

for (const { name, make, lost } of damages) {
  test(`${name}: everything readable is kept, what is lost is named once, and new events have new numbers`, async (t) => {
    const made = await atRest(t);
    const damaged = make(made);
    const { home } = copyOf(t, made, damaged);
    const opened = await openIn(home);
    const { engine } = opened;
    // A message comes before anybody has read the damaged part.
    const acceptance = await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
    assert.ok(acceptance.status === "accepted" && acceptance.events[0]?.seq === 13);
    const expected = made.events.filter(({ seq }) => !lost.includes(seq));
    const read = await allEvents(engine, sessionOf);
    assert.deepEqual(own(read), expected);
    const damage = await damageOf(opened);
    const numbers = (damage?.lost ?? []).flatMap(({ from_seq: from, to_seq: to }) =>
      Array.from({ length: to - from + 1 }, (_, n) => from + n),
    );
    assert.deepEqual(numbers, lost);
    // Any page of it can be read, and none has an event twice.
    for (let afterSeq = 0; afterSeq <= 14; afterSeq += 1) {
      const { events } = await engine.events(sessionOf, { afterSeq, limit: 3 });
      const all = await allEvents(engine, sessionOf);
      assert.deepEqual(events, all.filter(({ seq }) => seq > afterSeq).slice(0, 3), `after ${afterSeq}`);
    }
    await engine[Symbol.asyncDispose]();
    const kept = setAside(home).map((file) => fs.readFileSync(join(home, "sessions", file)));
    const isWhole = name === "a line that is gone" || name === "the first lines gone";
    assert.deepEqual(kept, isWhole ? [] : [damaged]);
    const again = await openIn(home);
    assert.deepEqual(own(await allEvents(again.engine, sessionOf)), expected);
    assert.equal(again.published.length, 0, "nothing is told a second time");
    const [log = ""] = fs.readdirSync(join(home, "sessions")).filter((file) => file.endsWith(".events.jsonl"));
    // Another session's, whose name begins like that of a copy.
    const other = `${log}.damaged-mine.events.jsonl`;
    fs.writeFileSync(join(home, "sessions", other), "");
    await again.engine.deleteSession(sessionOf);
    assert.deepEqual(setAside(home), [other], "what is deleted is gone everywhere");
    assert.equal(await damageOf(again), undefined);
    await again.engine[Symbol.asyncDispose]();
  });
}

test("an end that is lost never lets a number be given again, as far as anything tells about it", async (t) => {
  const made = await atRest(t);
  const { bytes, borders } = made;
  const last = borders.at(-2) ?? 0;
  const cuts = [
    { damaged: bytes.subarray(0, bytes.length - 5), shown: 0, next: 13 },
    { damaged: bytes.subarray(0, last + 20), shown: 12, next: 13 },
    { damaged: Buffer.from(bytes).fill(0, borders[8]), shown: 0, next: 13 },
    { damaged: Buffer.concat([bytes, Buffer.alloc(4096)]), shown: 12, next: 13 },
  ];
  for (const [index, { damaged, shown, next }] of cuts.entries()) {
    const { home } = copyOf(t, made, damaged);
    const { engine } = await openIn(home, { logs: { shownSeq: () => shown } });
    const [event] = await engine.append(sessionOf, [titled("next")], { durable: true });
    assert.ok((event?.seq ?? 0) >= next, `cut ${index}: ${event?.seq}`);
    await engine[Symbol.asyncDispose]();
    assert.equal(setAside(home).length, 1);
  }
});

for (const [name, spoil, from] of [
  ["is gone", (path: string) => fs.rmSync(path), 1],
  ["is empty", (path: string) => fs.truncateSync(path), 1],
  ["ends earlier, where a line ends", (path: string, border: number) => fs.truncateSync(path, border), 7],
] as const)
  test(`a log that ${name}, though its document shows more, is told once, and no number is given again`, async (t) => {
    const made = await atRest(t);
    const { home, path } = copyOf(t, made, made.bytes);
    spoil(path, made.borders[6] ?? 0);
    const shownSeq = (key: string): number => (key === sessionOf ? 12 : 0);
    const opened = await openIn(home, { logs: { shownSeq } });
    await opened.engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
    assert.deepEqual((await damageOf(opened))?.lost, [{ from_seq: from, to_seq: 12 }]);
    const events = await allEvents(opened.engine, sessionOf);
    assert.deepEqual(own(events), made.events.slice(0, from - 1));
    assert.ok(events.slice(from - 1).every(({ seq }) => seq > 12));
    await opened.engine[Symbol.asyncDispose]();
    const again = await openIn(home, { logs: { shownSeq } });
    assert.deepEqual(await allEvents(again.engine, sessionOf), events);
    assert.equal(again.published.length, 0, "nothing is told a second time");
    await again.engine.deleteSession(sessionOf);
    await again.engine[Symbol.asyncDispose]();
    const after = await openIn(home, { logs: { shownSeq } });
    assert.deepEqual(await allEvents(after.engine, sessionOf), []);
    assert.equal(await damageOf(after), undefined, "an older life of the session is not a loss");
    await after.engine[Symbol.asyncDispose]();
  });

test("events that the journal still holds are put back into a damaged or missing log", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  await engine.append(sessionOf, titles.map(titled), { durable: true });
  await engine.flush();
  const killed = tempFolder(t);
  fs.cpSync(home, killed, { recursive: true });
  const events = await allEvents(engine, sessionOf);
  // While it runs: what memory and journal hold is enough.
  const more = Array.from({ length: 300 }, (_, n) => `more ${n}`);
  await engine.append(sessionOf, more.map(titled), { durable: true });
  await engine.flush();
  const path = logPath(home, sessionOf);
  fs.writeFileSync(path, fs.readFileSync(path).fill(0, 100, 20_000));
  assert.deepEqual(titlesOf(await allEvents(engine, sessionOf)), [...titles, ...more]);
  await engine[Symbol.asyncDispose]();
  const again = await openIn(home);
  assert.deepEqual(titlesOf(await allEvents(again.engine, sessionOf)), [...titles, ...more]);
  await again.engine[Symbol.asyncDispose]();
  for (const damage of [(file: string) => fs.rmSync(file), (file: string) => fs.writeFileSync(file, "rubbish\n")]) {
    const copy = tempFolder(t);
    fs.cpSync(killed, copy, { recursive: true });
    damage(logPath(copy, sessionOf));
    const opened = await openIn(copy);
    assert.deepEqual(own(await allEvents(opened.engine, sessionOf)), events);
    await opened.engine[Symbol.asyncDispose]();
  }
});

test("an event that a repair of the journal could not read is read from the log, and is named as lost if no log has it", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  for (const title of ["1", "2", "3", "4"]) await engine.append(sessionOf, [titled(title)], { durable: true });
  await engine.flush();
  for (const title of ["5", "6", "7"]) await engine.append(sessionOf, [titled(title)], { durable: true });
  const segment = join("journal", "00000001.log");
  const journal = fs.readFileSync(join(home, segment));
  for (const [unread, read, lost] of [
    ["2", "1234567", undefined],
    ["6", "123457", [{ from_seq: 6, to_seq: 6 }]],
    ["34567", "1234", undefined],
  ] as const) {
    const copy = tempFolder(t);
    fs.cpSync(home, copy, { recursive: true });
    const damaged = Buffer.from(journal);
    for (const title of unread) {
      const at = damaged.indexOf(`{"title":"${title}"`) + 1;
      damaged[at] = (damaged[at] ?? 0) ^ 0x04;
    }
    fs.writeFileSync(join(copy, segment), damaged);
    assert.equal((await repairJournal(copy)).setAside.length, 1);
    for (const life of [1, 2]) {
      const opened = await openIn(copy, { quietMs: 60_000 });
      if (life === 1) await opened.engine.append(sessionOf, [titled("")], { durable: true });
      assert.equal(titlesOf(own(await allEvents(opened.engine, sessionOf))).join(""), read, `life ${life}`);
      assert.deepEqual((await damageOf(opened))?.lost, lost, `life ${life}`);
      await opened.engine[Symbol.asyncDispose]();
    }
  }
  await engine[Symbol.asyncDispose]();
});
