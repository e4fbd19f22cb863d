import { EngineError } from "../../../errors.js";
import type { StoredEvent } from "../../../events/event.js";
import type { EngineTarget, MovedSession, MovedState, SeenHash } from "../../moving.js";
import { type EventRow, readSession, toRow } from "../events/event-table.js";
import type { Jobs } from "../lanes/jobs.js";
import { rememberedDays, WorkTable } from "../lanes/work-table.js";
import type { Database, Sql, Transaction } from "../sql/database.js";
import { type Moving, readMoving, writeMoving } from "./state.js";

const addEventsSql = `INSERT INTO @events (session, seq, id, type, time, dropped, body, xid)
  SELECT $1, d.*, pg_current_xact_id()
  FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[]) d`;

export interface PostgresTargetParts {
  readonly database: Database;
  readonly jobs: Jobs;
  readonly schema: string;
  /** Names the home that is brought here. */
  readonly moving: Moving;
}

/** A schema that no gateway works with. Disposing closes its connections. */
export class PostgresTarget implements EngineTarget {
  readonly #parts: PostgresTargetParts;

  private constructor(parts: PostgresTargetParts) {
    this.#parts = parts;
  }

  /** @throws {EngineError} `corrupt`: there is something of others in the schema */
  static async open(parts: PostgresTargetParts): Promise<PostgresTarget> {
    const { database, schema, moving } = parts;
    await database.transaction(async (tx) => {
      const before = await readMoving(tx);
      if (before?.direction === "in" && before.id === moving.id) return;
      if (before !== undefined || !(await isEmpty(tx)))
        throw new EngineError(
          `The schema ${schema} is not empty. Set another engine.schema. To use this one, drop it first, with all that is in it: DROP SCHEMA ${schema} CASCADE`,
          { kind: "corrupt" },
        );
      await writeMoving(tx, moving);
    });
    return new PostgresTarget(parts);
  }

  /** An earlier try has come to its end. */
  async isDone(): Promise<boolean> {
    return (await readMoving(this.#parts.database))?.isDone === true;
  }

  async write({ key, deleted, events }: MovedSession): Promise<void> {
    const { database } = this.#parts;
    // The row of a session comes last: with it the session is complete.
    const [there] = await database.query("SELECT 1 FROM @sessions WHERE key = $1", [key]);
    if (there !== undefined) return;
    await this.remove(key);
    let seq = deleted?.seq ?? 0;
    let time = deleted?.time ?? 0;
    for await (const page of events()) {
      const rows = page.map(toRow);
      for (const row of rows) time = Math.max(time, row.time);
      seq = rows.at(-1)?.seq ?? seq;
      await database.transaction(async (tx) => void (await tx.query(addEventsSql, [key, ...columnsOf(rows)])));
    }
    await database.transaction(
      async (tx) =>
        void (await tx.query(
          `INSERT INTO @sessions (key, seq, time, before, deleted, xid) VALUES ($1, $2, $3, $3, $4, pg_current_xact_id())`,
          [key, seq, Math.round(time), deleted?.seq ?? 0],
        )),
    );
  }

  async remove(key: string): Promise<void> {
    await this.#parts.database.transaction(async (tx) => {
      await tx.query("DELETE FROM @events WHERE session = $1", [key]);
      await tx.query("DELETE FROM @sessions WHERE key = $1", [key]);
    });
  }

  read(key: string): AsyncIterable<readonly StoredEvent[]> {
    return readSession(this.#parts.database, key);
  }

  async keys(): Promise<readonly string[]> {
    const rows = await this.#parts.database.query<{ key: string }>(
      "SELECT key FROM @sessions UNION SELECT session FROM @events",
    );
    return rows.map(({ key }) => key);
  }

  async finish(state: MovedState, seen: AsyncIterable<readonly SeenHash[]>): Promise<void> {
    const { database, jobs, moving } = this.#parts;
    const work = new WorkTable({ jobs, instanceId: "gw_moving" });
    await database.transaction(async (tx) => {
      await addState(tx, state);
      for (const { work: stored, crashes } of state.work) {
        const { acceptedAt, attempts, ...piece } = stored;
        await work.add(tx, [piece], acceptedAt);
        if (attempts > 0)
          await tx.query("UPDATE @work SET attempts = $2, crashes = $3 WHERE id = $1", [piece.id, attempts, crashes]);
      }
      for await (const page of seen) await addSeen(tx, page);
      await writeMoving(tx, { ...moving, isDone: true });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.jobs.close();
    await this.#parts.database.close();
  }
}

async function isEmpty(tx: Transaction): Promise<boolean> {
  const [row] = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM @sessions) OR EXISTS (SELECT 1 FROM @events) OR EXISTS (SELECT 1 FROM @work)
       OR EXISTS (SELECT 1 FROM @records) OR EXISTS (SELECT 1 FROM @seen)
       OR EXISTS (SELECT 1 FROM @nodes WHERE seen > now() - interval '1 minute') AS found`,
  );
  return row?.found === false;
}

async function addState(sql: Sql, { cursors, records, leases, dead }: MovedState): Promise<void> {
  for (const { name, value } of cursors)
    await sql.query("INSERT INTO @cursors (name, value) VALUES ($1, $2)", [name, value]);
  for (const { kind, id, value } of records)
    await sql.query("INSERT INTO @records (kind, id, value) VALUES ($1, $2, $3)", [kind, id, JSON.stringify(value)]);
  for (const { name, epoch } of leases)
    await sql.query("INSERT INTO @leases (name, epoch, until) VALUES ($1, $2, now())", [name, epoch]);
  for (const { work, reason, buriedAt } of dead)
    await sql.query(
      `INSERT INTO @dead (id, queue, key, session, dedup, body, accepted_at, attempts, reason, buried_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        ...[work.id, work.queue, work.key, work.sessionKey, work.dedupId ?? null, JSON.stringify(work.body)],
        ...[Math.round(work.acceptedAt), work.attempts, reason, Math.round(buriedAt)],
      ],
    );
}

async function addSeen(sql: Sql, page: readonly SeenHash[]): Promise<void> {
  await sql.query(
    `INSERT INTO @seen (id, until)
     SELECT 'h:' || d.hash, to_timestamp(d.at / 1000) + interval '${rememberedDays} days'
     FROM unnest($1::text[], $2::float8[]) d (hash, at) ON CONFLICT DO NOTHING`,
    [page.map(({ hash }) => hash), page.map(({ at }) => at)],
  );
}

function columnsOf(rows: readonly EventRow[]): readonly (readonly unknown[])[] {
  return [
    rows.map(({ seq }) => seq),
    rows.map(({ id }) => id),
    rows.map(({ type }) => type),
    rows.map(({ time }) => time),
    rows.map(({ dropped }) => dropped),
    rows.map(({ body }) => body),
  ];
}
