import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readLedger } from "../../../src/engine/embedded/inspect/ledger.js";
import { encodeLine } from "../../../src/engine/embedded/journal/line.js";
import type { Delivery } from "../../../src/engine/engine.js";
import { draft, type EventDraft } from "../../../src/events/event.js";
import {
  answered,
  consuming,
  inbound,
  logPath,
  openIn,
  queued,
  recordingLog,
  sessionOf,
  tempFolder,
  until,
} from "../../support/engine/engine-kit.js";

const usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

function failed(id: string): EventDraft {
  const payload = {
    message_ids: [id],
    code: "UNKNOWN",
    category: "runtime" as const,
    message: "x",
    recoverable: false,
    usage,
    duration_ms: 1,
  };
  return draft("turn_execution_failed", payload, { source: "agent" });
}

function cancelled(id: string): EventDraft {
  return draft("turn_execution_cancelled", { message_ids: [id], reason: "abort", mode: "cancel" }, { source: "agent" });
}

function refused(id: string): EventDraft {
  const payload = { code: "REFUSED", category: "runtime", message: "x", recoverable: false, scope: "policy" } as const;
  return draft("error_occurred", payload, { source: "gateway", correlation_id: id });
}

const endings: Readonly<Record<string, (delivery: Delivery<"inbound">) => Promise<unknown>>> = {
  answered: (delivery) => delivery.commit({ events: [answered([delivery.work.id])], emit: [] }),
  failed: (delivery) => delivery.commit({ events: [failed(delivery.work.id)], emit: [] }),
  cancelled: (delivery) => delivery.commit({ events: [cancelled(delivery.work.id)], emit: [] }),
  refused: (delivery) => delivery.commit({ events: [refused(delivery.work.id)], emit: [] }),
  buried: (delivery) => delivery.bury({ events: [], emit: [], reason: "poison" }),
  forgotten: (delivery) => delivery.commit({ events: [], emit: [] }),
};

async function ends(home: string, log = recordingLog()): Promise<Record<string, string>> {
  const entries = await readLedger(home, join(home, "sessions"), log);
  return Object.fromEntries(entries.map(({ messageId, end }) => [messageId, end]));
}

test("the ledger tells how each message ended, while the engine runs, after it closed, and without the journal's events", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 60_000 });
  assert.deepEqual(await ends(home), {});
  const consumer = consuming(engine, "inbound", async (delivery) => {
    const end = endings[delivery.work.id];
    if (end === undefined) await delivery.retry({ reason: "later", delayMs: 60_000 });
    else await end(delivery);
  });
  const ids = [...Object.keys(endings), "waiting"];
  for (const id of ids) await engine.accept(inbound(id), { events: [queued(id)] });
  await until("all but one are done", () => engine.status().inboundWaiting === 1);
  await consumer.stop();
  const expected = {
    answered: "answered",
    failed: "failed",
    cancelled: "cancelled",
    refused: "refused",
    buried: "refused",
    forgotten: "lost",
    waiting: "pending",
  };
  assert.deepEqual(await ends(home), expected);
  const [first] = await readLedger(home, join(home, "sessions"));
  assert.deepEqual(
    { ...first, endSeq: 0 },
    { messageId: "answered", sessionKey: sessionOf, acceptedSeq: 1, end: "answered", endSeq: 0 },
  );
  assert.ok((first?.endSeq ?? 0) > 1);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(await ends(home), expected);
  await assert.doesNotReject(readLedger(join(home, "nowhere"), join(home, "nowhere")));
});

test("a deleted session is not in the ledger, and damaged lines are told and left out", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home);
  for (const id of ["a", "b", "c"]) await engine.accept(inbound(id), { events: [queued(id)] });
  await engine.accept(inbound("elsewhere", "telegram:99"), { events: [queued("elsewhere")] });
  await engine.deleteSession("telegram:99");
  await engine[Symbol.asyncDispose]();
  const path = logPath(home, sessionOf);
  const bytes = fs.readFileSync(path);
  bytes[bytes.indexOf("text of b")] = 0x58;
  fs.writeFileSync(path, bytes);
  const log = recordingLog();
  assert.deepEqual(await ends(home, log), { a: "pending", c: "pending" });
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields.line]),
    [["warn", 2]],
  );
});

test("a message that arrives between reading the journal and its log is not called lost", async (t) => {
  const home = tempFolder(t);
  const { engine, published } = await openIn(home, { quietMs: 60_000 });
  fs.mkdirSync(join(home, "sessions"));
  // The first log has a damaged line: telling about it happens after the journal was read and before the second log is.
  fs.writeFileSync(join(home, "sessions", "a.events.jsonl"), '00000000 {"type":"error_occurred"}\n');
  fs.writeFileSync(logPath(home, sessionOf), "");
  let accepting: Promise<unknown> | undefined;
  const log = {
    ...recordingLog(),
    warn: () => {
      if (accepting !== undefined) return;
      accepting = engine.accept(inbound("late"), { events: [queued("late")] });
      const event = { ...queued("late"), session_key: sessionOf, seq: 1, timestamp: "2026-01-01T00:00:00.000Z" };
      fs.writeFileSync(logPath(home, sessionOf), encodeLine(JSON.stringify(event)));
    },
  };
  const entries = await readLedger(home, join(home, "sessions"), log);
  await accepting;
  assert.equal(published.length, 1);
  assert.deepEqual(
    entries.map(({ messageId, end }) => [messageId, end]),
    [["late", "pending"]],
  );
  await engine[Symbol.asyncDispose]();
});

test("a ledger that is read while messages come and go, and segments change, never calls one lost", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { quietMs: 2, journal: { segmentBytes: 20_000 } });
  const consumer = consuming(engine, "inbound", async (delivery) => {
    await delivery.commit({ events: [answered([delivery.work.id])], emit: [] });
  });
  let isLoading = true;
  const loading = (async () => {
    for (let n = 0; isLoading; n += 1) {
      const id = `msg_${n}`;
      await engine.accept(inbound(id, `telegram:${n % 3}`), { events: [queued(id)] });
    }
  })();
  for (let round = 0; round < 30; round += 1) {
    const lost = Object.entries(await ends(home)).filter(([, end]) => end === "lost");
    assert.deepEqual(lost, []);
  }
  isLoading = false;
  await loading;
  await consumer.stop();
  await engine[Symbol.asyncDispose]();
});
