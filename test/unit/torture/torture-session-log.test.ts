import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { markName } from "../../../src/engine/embedded/damage/journal-mark.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { damages, inflict } from "../../support/engine/damage.js";
import { inbound, logPath, openIn, queued, sessionOf, titled, titlesOf } from "../../support/engine/engine-kit.js";
import { memoryFolder } from "../../support/engine/torture.js";
import { seedOf, tortureFactor } from "../../support/engine/torture-options.js";

const other = "telegram:99";
const atRest = 12;

interface Specimen {
  readonly home: string;
  readonly bytes: Buffer;
  readonly events: readonly StoredEvent[];
  /** Events from here on are in the journal too. */
  readonly coveredFrom: number;
}

/** A home as it is left: the first events only in the session log, the later ones in the journal too. */
async function specimen(t: TestContext, isStopped: boolean): Promise<Specimen> {
  const home = memoryFolder(t);
  const titles = Array.from({ length: 20 }, (_, n) => `title ${n + 1} „Grüße“ ${"x".repeat(n * 13)}`);
  const first = await openIn(home);
  await first.engine.append(sessionOf, titles.slice(0, atRest).map(titled), { durable: true });
  await first.engine.append(other, [titled("fine")], { durable: true });
  await first.engine[Symbol.asyncDispose]();
  const { engine } = await openIn(home, { quietMs: 60_000 });
  await engine.append(sessionOf, titles.slice(atRest).map(titled), { durable: true });
  await engine.flush();
  const copy = memoryFolder(t);
  if (!isStopped) fs.cpSync(home, copy, { recursive: true });
  const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 100 });
  await engine[Symbol.asyncDispose]();
  if (isStopped) fs.cpSync(home, copy, { recursive: true });
  const bytes = fs.readFileSync(logPath(copy, sessionOf));
  return { home: copy, bytes, events, coveredFrom: isStopped ? Number.POSITIVE_INFINITY : atRest + 1 };
}

/** Everything that can be read, page by page. */
async function readAll(engine: Awaited<ReturnType<typeof openIn>>["engine"]): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await engine.events(sessionOf, { afterSeq: all.at(-1)?.seq ?? 0, limit: 3 });
    all.push(...page.events);
    hasMore = page.hasMore && page.events.length > 0;
  }
  return all;
}

/** The lines of a file, without those that have no end. */
function linesOf(bytes: Buffer): readonly string[] {
  return bytes.toString("latin1").split("\n").slice(0, -1);
}

for (const isStopped of [true, false]) {
  const when = isStopped ? "at rest" : "whose end the journal still holds";
  test(`a session log ${when}, damaged in any way, gives all that can be read and no wrong event, is kept, and goes on`, async (t) => {
    const { home, bytes, events, coveredFrom } = await specimen(t, isStopped);
    const journal = join(home, "journal");
    const copyOfJournal = join(memoryFolder(t), "journal");
    fs.cpSync(journal, copyOfJournal, { recursive: true });
    const path = logPath(home, sessionOf);
    const bySeq = new Map(events.map((event) => [event.seq, event]));
    const eventOfLine = new Map(linesOf(bytes).map((line, index) => [line, events[index]]));
    const property = fc.asyncProperty(fc.array(damages, { minLength: 1, maxLength: 3 }), async (list) => {
      fs.rmSync(journal, { recursive: true });
      fs.cpSync(copyOfJournal, journal, { recursive: true });
      fs.rmSync(join(home, markName), { force: true });
      for (const name of fs.readdirSync(join(home, "sessions")))
        if (name.includes(".damaged-")) fs.rmSync(join(home, "sessions", name));
      const damaged = list.reduce(inflict, bytes);
      fs.writeFileSync(path, damaged);
      const expected = new Set(events.filter(({ seq }) => seq >= coveredFrom).map(({ seq }) => seq));
      for (const line of linesOf(damaged)) {
        const event = eventOfLine.get(line);
        if (event !== undefined) expected.add(event.seq);
      }

      const { engine } = await openIn(home, { quietMs: 60_000 });
      try {
        assert.deepEqual(titlesOf((await engine.events(other, { afterSeq: 0, limit: 5 })).events), ["fine"]);
        const read = await readAll(engine);
        assert.deepEqual(
          read.map(({ seq }) => seq),
          [...new Set(read.map(({ seq }) => seq))].sort((one, another) => one - another),
        );
        for (const event of read)
          if (event.type !== "session_log_mended") assert.deepEqual(event, bySeq.get(event.seq));
        for (const seq of expected)
          assert.ok(
            read.some((event) => event.seq === seq),
            `event ${seq} can be read`,
          );
        const last = await engine.lastSequence(sessionOf);
        const acceptance = await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
        assert.ok(acceptance.status === "accepted" && acceptance.events[0]?.seq === last + 1);
        // What is taken off the file is kept beside it, unless the journal holds all of it.
        const left = fs.existsSync(path) ? fs.readFileSync(path) : Buffer.alloc(0);
        const aside = fs.readdirSync(join(home, "sessions")).filter((name) => name.includes(".damaged-"));
        const isTail = left.equals(damaged.subarray(0, left.length));
        if (aside.length === 0) assert.ok(isTail && (left.length === damaged.length || coveredFrom <= events.length));
        await engine[Symbol.asyncDispose]();
        const reopened = await openIn(home);
        const again = await readAll(reopened.engine);
        await reopened.engine[Symbol.asyncDispose]();
        assert.deepEqual(again.slice(0, read.length), read);
        assert.ok(again.some(({ type }) => type === "user_message_queued"));
        // Rubbish that nobody has come across yet is found now; no loss is.
        for (const event of reopened.published)
          assert.ok(event.type === "session_log_mended" && event.payload.lost.length === 0);
      } finally {
        await engine[Symbol.asyncDispose]();
      }
    });
    await fc.assert(property, { seed: seedOf(t), numRuns: 60 * tortureFactor });
  });
}

test("the log of another session is never read for a session's own, and is kept", async (t) => {
  const { home, events } = await specimen(t, true);
  const path = logPath(home, sessionOf);
  const foreign = fs.readFileSync(logPath(home, other));
  fs.writeFileSync(path, foreign);
  const { engine } = await openIn(home);
  const { events: found } = await engine.events(sessionOf, { afterSeq: 0, limit: 100 });
  assert.deepEqual(
    found.map(({ type }) => type),
    ["session_log_mended"],
  );
  await engine.append(sessionOf, [titled("own")], { durable: true });
  await engine[Symbol.asyncDispose]();
  const [aside = ""] = fs.readdirSync(join(home, "sessions")).filter((name) => name.includes(".damaged-"));
  assert.deepEqual(fs.readFileSync(join(home, "sessions", aside)), foreign);
  assert.ok(events.length > 0);
});

test("a session log that is missing, or older than it was, takes no other with it and is told", async (t) => {
  const { home, bytes } = await specimen(t, false);
  const path = logPath(home, sessionOf);
  const half = bytes.subarray(0, bytes.indexOf(10, bytes.length / 4) + 1);
  for (const left of [undefined, half]) {
    const copy = memoryFolder(t);
    fs.cpSync(home, copy, { recursive: true });
    if (left === undefined) fs.rmSync(logPath(copy, sessionOf));
    else fs.writeFileSync(logPath(copy, sessionOf), left);
    const { engine, log } = await openIn(copy, { quietMs: 60_000 });
    const read = await readAll(engine);
    assert.deepEqual(
      read.filter(({ seq }) => seq > atRest).map(({ seq }) => seq),
      [13, 14, 15, 16, 17, 18, 19, 20, 21],
    );
    assert.equal(read.at(-1)?.type, "session_log_mended");
    assert.ok(log.lines.some(({ level, message }) => level === "error" && message.includes("was damaged")));
    await engine[Symbol.asyncDispose]();
  }
  assert.ok(fs.existsSync(path));
});
