import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findLogEnd } from "../../../src/engine/embedded/damage/log-end.js";
import type { EmbeddedEngine } from "../../../src/engine/embedded/embedded-engine.js";
import { type EventReport, verifyStoredEvents } from "../../../src/engine/embedded/inspect/verify.js";
import { dropOnce } from "../../../src/engine/old-details.js";
import type { StoredEvent } from "../../../src/events/event.js";
import { silentLog } from "../../../src/log.js";
import { logPath, openIn, sessionOf, tempFolder } from "../../support/engine/engine-kit.js";
import { addTurns, turnDrafts } from "../../support/engine/old-turns.js";

const dayMs = 86_400_000;
const child = fileURLToPath(new URL("../../support/engine/children/thin-child.js", import.meta.url));
const never = new AbortController().signal;
const details = ["agent_state_changed", "turn_iteration_start"];

const sessionLogs = (home: string) => () => [logPath(home, sessionOf)];

/** Two turns of ten days ago and one of now. */
async function withOldTurns(t: TestContext): Promise<{ readonly home: string; readonly all: readonly StoredEvent[] }> {
  const home = tempFolder(t);
  const old = await openIn(home, { now: () => Date.now() - 10 * dayMs });
  await addTurns(old.engine, ["msg_1", "msg_2"]);
  await old.engine[Symbol.asyncDispose]();
  const { engine } = await openIn(home);
  await addTurns(engine, ["msg_3"]);
  const all = await eventsOf(engine);
  await engine[Symbol.asyncDispose]();
  return { home, all };
}

async function eventsOf(engine: EmbeddedEngine, afterSeq = 0): Promise<readonly StoredEvent[]> {
  return (await engine.events(sessionOf, { afterSeq, limit: 1000 })).events;
}

const span = (days: number) => ({ sinceMs: 0, beforeMs: Date.now() - days * dayMs });

/** What is left of events when details and thoughts of the old ones go. */
function withoutDetails(all: readonly StoredEvent[]): readonly StoredEvent[] {
  const before = Date.now() - dayMs;
  return all.filter(({ type, timestamp }) => Date.parse(timestamp) >= before || !details.includes(type));
}

function told({ event_id, seq, type, payload }: StoredEvent): unknown {
  if (type !== "assistant_message") return { event_id, seq, type, payload };
  return { event_id, seq, type, payload: { ...payload, content: payload.content.filter((p) => p.type === "text") } };
}

function verify(home: string): Promise<EventReport> {
  const files = { home, logs: [logPath(home, sessionOf)], segment: undefined };
  return verifyStoredEvents(files, { logPathOf: (key) => logPath(home, key), signal: never });
}

async function assertThinned(home: string, all: readonly StoredEvent[]): Promise<void> {
  const { problems } = await verify(home);
  assert.deepEqual(problems, []);
  const { engine, log } = await openIn(home, { logs: { all: sessionLogs(home) } });
  const left = await eventsOf(engine);
  assert.deepEqual(left.slice(0, withoutDetails(all).length).map(told), withoutDetails(all).map(told));
  assert.doesNotMatch(JSON.stringify(left), /a thought about msg_[12]/);
  assert.match(JSON.stringify(left), /a thought about msg_3/);
  const ids = new Set(left.map(({ event_id }) => event_id));
  for (const { causation_id: cause } of left) assert.ok(cause === undefined || ids.has(cause), `cause ${cause}`);
  for (let after = 0; after < all.length; after += 1)
    assert.deepEqual(
      await eventsOf(engine, after),
      left.filter(({ seq }) => seq > after),
    );
  const last = await engine.lastSequence(sessionOf);
  const [next] = await engine.append(sessionOf, turnDrafts("msg_last"), { durable: true });
  assert.equal(next?.seq, last + 1);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual(
    log.lines.filter(({ level }) => level !== "info"),
    [],
  );
  assert.deepEqual(
    readdirSync(join(home, "sessions")).filter((name) => name.includes("damaged")),
    [],
  );
}

test("details and thoughts of old turns leave the log; messages, costs, numbers and causes stay", async (t) => {
  const { home, all } = await withOldTurns(t);
  const before = statSync(logPath(home, sessionOf));
  const { engine } = await openIn(home, { logs: { all: sessionLogs(home) } });
  assert.equal((await eventsOf(engine)).length, all.length);
  const { freed, failed } = await engine.thinLogs(span(1), never);
  assert.equal(failed, 0);
  assert.equal((await eventsOf(engine)).length, withoutDetails(all).length);
  await engine[Symbol.asyncDispose]();
  const after = statSync(logPath(home, sessionOf));
  assert.ok(freed > 0);
  assert.equal(before.size - after.size, freed);
  assert.ok(Math.abs(after.mtimeMs - before.mtimeMs) < 2, "so that the next pass knows that it is done");
  // Also where a journal that was put back still has the old turns.
  const end = findLogEnd(logPath(home, sessionOf), sessionOf, 2);
  assert.deepEqual([end.goodEnd, end.lastSeq], [after.size, all.length]);
  await assertThinned(home, all);
});

test("a second pass finds nothing to do, and one with fewer days leaves out the rest", async (t) => {
  const { home, all } = await withOldTurns(t);
  const { engine } = await openIn(home, { logs: { all: sessionLogs(home) } });
  assert.ok((await engine.thinLogs(span(1), never)).freed > 0);
  assert.equal((await engine.thinLogs(span(1), never)).freed, 0);
  await addTurns(engine, ["msg_4"]);
  assert.ok((await engine.thinLogs({ sinceMs: 0, beforeMs: Date.now() + dayMs }, never)).freed > 0);
  const left = await eventsOf(engine);
  const kept = [...all, ...turnDrafts("msg_4")].filter(({ type }) => !details.includes(type));
  assert.equal(left.length, kept.length);
  await engine[Symbol.asyncDispose]();
  assert.deepEqual((await verify(home)).problems, []);
});

test("a turn that is still open keeps its details, however old it is", async (t) => {
  const home = tempFolder(t);
  const { engine } = await openIn(home, { now: () => Date.now() - 10 * dayMs, logs: { all: sessionLogs(home) } });
  await engine.append(sessionOf, turnDrafts("msg_1", { isOpen: true }), { durable: true });
  await engine.flush();
  assert.deepEqual(await engine.thinLogs(span(1), never), { freed: 0, failed: 0 });
  assert.match(JSON.stringify(await eventsOf(engine)), /a thought about msg_1/);
  await engine[Symbol.asyncDispose]();
});

test("a log that is written meanwhile keeps everything, and a deleted session comes back with nothing", async (t) => {
  const { home, all } = await withOldTurns(t);
  let meanwhile: (() => Promise<unknown>) | undefined;
  const { engine } = await openIn(home, {
    logs: { all: sessionLogs(home) },
    onBoundary: (name) => {
      if (name === "thin:draft-written") void meanwhile?.();
    },
  });
  meanwhile = () => engine.append(sessionOf, turnDrafts("msg_4"), { durable: false });
  assert.equal((await engine.thinLogs(span(1), never)).freed, 0);
  assert.equal((await eventsOf(engine)).length, all.length + turnDrafts("msg_4").length);
  await engine.flush();
  const deletions: Promise<void>[] = [];
  meanwhile = async () => {
    deletions.push(engine.deleteSession(sessionOf));
  };
  await engine.thinLogs(span(1), never);
  assert.equal((await Promise.all(deletions)).length, 1);
  assert.deepEqual(readdirSync(join(home, "sessions")), []);
  await engine[Symbol.asyncDispose]();
});

test("a log that is read meanwhile goes on with the next event", async (t) => {
  const { home, all } = await withOldTurns(t);
  const reads: Promise<readonly StoredEvent[]>[] = [];
  const { engine } = await openIn(home, {
    logs: { all: sessionLogs(home) },
    onBoundary: (name) => {
      if (name === "thin:draft-written") reads.push(eventsOf(engine));
    },
  });
  assert.ok((await engine.thinLogs(span(1), never)).freed > 0);
  assert.equal((await Promise.all(reads)).length, 1);
  await addTurns(engine, ["msg_4"]);
  const left = await eventsOf(engine);
  assert.equal(left.length, withoutDetails(all).length + turnDrafts("msg_4").length);
  await engine[Symbol.asyncDispose]();
  await assertThinned(home, left);
});

test("what is really missing in such a log is still found, and named", async (t) => {
  const { home } = await withOldTurns(t);
  const { engine } = await openIn(home, { logs: { all: sessionLogs(home) } });
  await engine.thinLogs(span(1), never);
  await engine[Symbol.asyncDispose]();
  const path = logPath(home, sessionOf);
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, [...lines.slice(0, 3), ...lines.slice(4)].join("\n"));
  const { problems } = await verify(home);
  assert.deepEqual(
    problems.filter(({ kind }) => kind === "gap").map(({ message }) => message),
    ["events 4 to 7 are missing"],
  );
  const again = await openIn(home);
  await eventsOf(again.engine);
  const mended = (await eventsOf(again.engine)).find(({ type }) => type === "session_log_mended");
  assert.deepEqual(mended?.payload, { lost: [{ from_seq: 4, to_seq: 7 }], restored: 0 });
  await again.engine[Symbol.asyncDispose]();
});

test("a damaged line leaves the log to whoever mends it", async (t) => {
  const { home } = await withOldTurns(t);
  const path = logPath(home, sessionOf);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(300) ^ 1, 300);
  writeFileSync(path, bytes);
  const { engine } = await openIn(home, { logs: { all: sessionLogs(home) } });
  await engine.thinLogs(span(1), never);
  assert.deepEqual(readFileSync(path).subarray(0, bytes.length), bytes);
  await engine[Symbol.asyncDispose]();
});

for (const killAt of [
  "rotate:before",
  "rotate:checkpoint-written",
  "rotate:old-dropped",
  "thin:draft-written",
  "thin:replaced",
]) {
  test(`a kill at ${killAt} leaves the log with its details or without them`, async (t) => {
    const { home, all } = await withOldTurns(t);
    const { beforeMs } = span(1);
    const crash = spawnSync(process.execPath, [child, home, killAt, String(beforeMs)], { stdio: "inherit" });
    assert.equal(crash.signal, "SIGKILL", "the boundary was reached");
    assert.deepEqual((await verify(home)).problems, []);
    const { engine } = await openIn(home, { logs: { all: sessionLogs(home) } });
    const expected = killAt === "thin:replaced" ? withoutDetails(all) : all;
    const found = await eventsOf(engine);
    const fresh = turnDrafts("msg_new");
    assert.equal(found.length, expected.length + fresh.length);
    assert.equal(found.at(-1)?.seq, all.length + fresh.length);
    await engine.thinLogs(span(1), never);
    await engine[Symbol.asyncDispose]();
    assert.ok(!existsSync(`${logPath(home, sessionOf)}.thinning`));
    await assertThinned(home, all);
  });
}

test("a pass looks at what was written since the last one, and a failed one is done again", async () => {
  const spans: unknown[] = [];
  const values = new Map<string, unknown>();
  const records = {
    get: (id: string) => values.get(id),
    put: async (id: string, value: unknown) => void values.set(id, value),
  };
  let failed = 1;
  const pass = (now: number, days = 2) =>
    dropOnce(
      {
        days,
        thin: async (given) => {
          spans.push(given);
          return { freed: 0, failed };
        },
        records,
        now: () => now,
        log: silentLog,
      },
      never,
    );
  await pass(10 * dayMs);
  failed = 0;
  await pass(10 * dayMs);
  await pass(11 * dayMs);
  await pass(11 * dayMs, 5);
  assert.deepEqual(spans, [
    { sinceMs: 0, beforeMs: 8 * dayMs },
    { sinceMs: 0, beforeMs: 8 * dayMs },
    { sinceMs: 8 * dayMs, beforeMs: 9 * dayMs },
    { sinceMs: 6 * dayMs, beforeMs: 6 * dayMs },
  ]);
});
