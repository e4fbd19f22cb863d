import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readLedger } from "../../../src/engine/embedded/inspect/ledger.js";
import { createSessionFiles } from "../../../src/sessions/file-names.js";
import { inbound, openIn, queued, tempFolder, titled } from "../../support/engine/engine-kit.js";
import { madeKey, makeHistory } from "../../support/engine/histories/made-history.js";
import { memoryFolder } from "../../support/engine/torture.js";
import { tortureFactor } from "../../support/engine/torture-options.js";
import { watchReads } from "../../support/rules/watch-reads.js";
import { withoutProc } from "../../support/worlds/needs.js";

/** A gigabyte in `npm run torture`. */
const bytesOfHistory = tortureFactor > 1 ? 1024 ** 3 : 12 * 1024 ** 2;
const bytesPerTurn = 4000;
const key = madeKey(0);
const folder = tortureFactor > 1 ? tempFolder : memoryFolder;

async function openMade(t: TestContext, sessions: number) {
  const home = folder(t);
  const dir = join(home, "workspace", ".sessions");
  const turnsPerSession = Math.ceil(bytesOfHistory / bytesPerTurn / sessions);
  const bytes = makeHistory(dir, { sessions, turnsPerSession, answerBytes: 2000 });
  assert.ok(bytes > bytesOfHistory * 0.8, `${bytes} bytes`);
  const files = createSessionFiles(dir);
  const { engine } = await openIn(home, { logs: { pathOf: (of) => files.logPath(of) } });
  t.after(() => engine[Symbol.asyncDispose]());
  return { home, dir, engine, bytes, lastSeq: turnsPerSession * 5, turns: turnsPerSession * sessions };
}

test("in a session with a long history, its end, any part of it and a new message cost a few small reads", {
  skip: withoutProc(),
}, async (t) => {
  const { home, engine, lastSeq, bytes } = await openMade(t, 1);
  const cost = async (what: string, action: () => Promise<void>): Promise<void> => {
    const watch = watchReads(home);
    await action();
    const { bytes: read } = watch.end();
    t.diagnostic(`${what}: ${read} of ${bytes} bytes read`);
    assert.ok(read < 4 * 1024 ** 2, `${what} read ${read} bytes`);
  };
  await cost("its end", async () => assert.equal(await engine.lastSequence(key), lastSeq));
  for (const afterSeq of [0, Math.floor(lastSeq / 3), lastSeq - 10])
    await cost(`ten events after ${afterSeq}`, async () => {
      const { events } = await engine.events(key, { afterSeq, limit: 10 });
      assert.deepEqual(
        events.map(({ seq }) => seq),
        Array.from({ length: 10 }, (_, n) => afterSeq + n + 1),
      );
    });
  await cost("a new message", async () => {
    const accepted = await engine.accept(inbound("msg_new", key), { events: [queued("msg_new")] });
    assert.ok(accepted.status === "accepted" && accepted.events[0]?.seq === lastSeq + 1);
    await engine.flush();
  });
});

test("the ledger of a long history accounts for every message, in memory that does not grow with the text", async (t) => {
  const { home, dir, turns, bytes } = await openMade(t, 40);
  const before = process.memoryUsage.rss();
  const ledger = await readLedger(home, dir);
  const grown = process.memoryUsage.rss() - before;
  t.diagnostic(`${turns} messages, ${bytes} bytes: ${Math.round(grown / 1024 ** 2)} MB more memory`);
  assert.equal(ledger.filter(({ end }) => end === "answered").length, turns);
  assert.equal(ledger.length, turns);
  assert.ok(grown < 64 * 1024 ** 2 + turns * 1500, `${grown} bytes more`);
});

test("a journal that could not be moved into the session logs for long is read as a whole", async (t) => {
  const home = folder(t);
  const segmentBytes = 1024 ** 4;
  const { engine } = await openIn(home, { quietMs: 600_000, journal: { segmentBytes } });
  const events = Math.ceil((tortureFactor > 1 ? 256 * 1024 ** 2 : bytesOfHistory) / 20_000);
  for (let n = 0; n < events; n += 1)
    await engine.append(`telegram:${n % 50}`, [titled("x".repeat(20_000))], { durable: false });
  await engine.accept(inbound("msg_1"), { events: [queued("msg_1")] });
  const copy = folder(t);
  fs.cpSync(join(home, "journal"), join(copy, "journal"), { recursive: true });
  await engine[Symbol.asyncDispose]();
  const began = performance.now();
  const again = await openIn(copy, { quietMs: 600_000, journal: { segmentBytes } });
  t.diagnostic(`${events} events read in ${Math.round(performance.now() - began)} ms`);
  assert.equal(again.engine.status().inboundWaiting, 1);
  let found = 0;
  for (let chat = 0; chat < 50; chat += 1) found += await again.engine.lastSequence(`telegram:${chat}`);
  assert.equal(found, events + 1);
  await again.engine[Symbol.asyncDispose]();
});
