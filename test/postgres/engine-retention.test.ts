import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Engine } from "../../src/engine/engine.js";
import type { ThinReport, ThinSpan } from "../../src/engine/left-out.js";
import type { StoredEvent } from "../../src/events/event.js";
import { systemKey } from "../../src/events/session-key.js";
import { logPath, openIn, sessionOf, tempFolder, titled, until } from "../support/engine/engine-kit.js";
import { turnDrafts } from "../support/engine/old-turns.js";
import { type StorageServer, startServer } from "../support/fakes/storage-servers.js";
import { openNode, quickTiming, urlOf } from "../support/postgres/postgres-kit.js";
import { openSql } from "../support/postgres/sql.js";

let server: StorageServer | undefined;
before(async () => {
  server = await startServer("postgres");
});
after(() => server?.[Symbol.asyncDispose]());

test("the gateways' own log keeps its newest 20,000 events, and a conversation all of them", async () => {
  const timing = { ...quickTiming, cleanMs: 100 };
  const { engine } = await openNode(urlOf(server?.port ?? 0), "retention", { timing });
  try {
    const many = Array.from({ length: 1000 }, (_, n) => titled(`${n}`));
    const first = async (key: string): Promise<number | undefined> =>
      (await engine.events(key, { afterSeq: 0, limit: 1 })).events[0]?.seq;
    for (const key of [systemKey("local"), "telegram:42"])
      for (let batch = 0; batch < 27; batch += 1)
        await engine.append(
          key,
          many.map((event, n) => ({ ...event, event_id: `evt_${batch}_${n}` })),
          { durable: false },
        );
    await until("the oldest are gone", async () => (await first(systemKey("local"))) === 7001);
    assert.equal(await first("telegram:42"), 1);
    assert.equal(await engine.lastSequence(systemKey("local")), 27_000);
    const [next] = await engine.append(systemKey("local"), [titled("next")], { durable: true });
    assert.equal(next?.seq, 27_001);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
});

const dayMs = 86_400_000;
const never = new AbortController().signal;

/** What is told of events, without what differs by the engine's name and the moment. */
async function told(engine: Engine): Promise<readonly unknown[]> {
  const { events } = await engine.events(sessionOf, { afterSeq: 0, limit: 10_000 });
  return events.map(({ event_id, seq, type, payload, causation_id, metadata: { dropped } }: StoredEvent) => ({
    ...{ event_id, seq, type, payload, causation_id, dropped },
  }));
}

/** Old turns, an old one that is open, and one of now: more than what is read at once. */
const history = [
  ...Array.from({ length: 130 }, (_, n) => ({ ageDays: 10, drafts: turnDrafts(`msg_${n}`) })),
  { ageDays: 10, drafts: turnDrafts("msg_open", { isOpen: true }) },
  { ageDays: 0, drafts: turnDrafts("msg_new") },
].map(({ ageDays, drafts }) =>
  drafts.map((event) => ({ ...event, at: new Date(Date.now() - ageDays * dayMs).toISOString() })),
);

test("old details leave the database as they leave the files, also when this is cut off", async (t) => {
  const home = tempFolder(t);
  const { engine: embedded } = await openIn(home, { logs: { all: () => [logPath(home, sessionOf)] } });
  const { engine } = await openNode(urlOf(server?.port ?? 0), "thin");
  try {
    for (const one of [embedded, engine])
      for (const drafts of history) await one.append(sessionOf, drafts, { durable: false });
    await embedded.flush();
    assert.deepEqual(await told(engine), await told(embedded));
    const span: ThinSpan = { sinceMs: 0, beforeMs: Date.now() - dayMs };
    const thin = (one: { thinLogs(span: ThinSpan, signal: AbortSignal): Promise<ThinReport> }): Promise<ThinReport> =>
      one.thinLogs(span, never);
    await thin(embedded);
    // The first step is stored, and then its process ends.
    const stopping = new AbortController();
    const first = engine.thinLogs(span, stopping.signal);
    await until("something is gone", async () => (await told(engine)).length < history.flat().length);
    stopping.abort();
    await first;
    const { freed, failed } = await thin(engine);
    assert.equal(failed, 0);
    assert.ok(freed > 0 || (await first).freed > 0);
    assert.deepEqual(await told(engine), await told(embedded));
    assert.deepEqual(await thin(engine), { freed: 0, failed: 0 });
    const [next] = await engine.append(sessionOf, [titled("next")], { durable: true });
    assert.equal(next?.seq, history.flat().length + 1);
  } finally {
    await engine[Symbol.asyncDispose]();
    await embedded[Symbol.asyncDispose]();
  }
});

test("tables that change with each message are cleaned early, and what a person has set for one stays", async () => {
  const url = urlOf(server?.port ?? 0);
  await using sql = await openSql(url);
  const settings = async (table: string): Promise<unknown> =>
    (await sql.rows("SELECT reloptions FROM pg_class WHERE oid = $1::regclass", [`tuned.${table}`]))[0]?.reloptions;
  for (let start = 1; start <= 2; start += 1) {
    const { engine } = await openNode(url, "tuned");
    await engine[Symbol.asyncDispose]();
    for (const table of ["work", "job_common", "records", "seen"])
      assert.match(String(await settings(table)), /autovacuum_vacuum_scale_factor=0.02/, table);
    if (start === 1) await sql.rows("ALTER TABLE tuned.sessions SET (autovacuum_vacuum_scale_factor = 0.5)");
    if (start === 1)
      await sql.rows("ALTER TABLE tuned.sessions RESET (autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor)");
  }
  assert.deepEqual(await settings("sessions"), ["autovacuum_vacuum_scale_factor=0.5"]);
});
