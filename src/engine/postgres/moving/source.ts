import type { EngineSource, MovedSession, MovedState, SeenHash } from "../../moving.js";
import { hashOf } from "../../seen-hash.js";
import { readSession } from "../events/event-table.js";
import { type DeadRow, deadColumns, toDeadLetter } from "../lanes/dead-letters.js";
import { rememberedDays, toStoredWork, type WorkRow, workColumns } from "../lanes/work-table.js";
import { recordKindOf, sumOf } from "../records.js";
import type { Database } from "../sql/database.js";

const rowsAtOnce = 1000;

interface SessionRow {
  readonly key: string;
  readonly deleted: number;
  readonly before: number;
  readonly time: number;
}

/** The engine of a schema that no gateway works with. Disposing closes its connections. */
export class PostgresSource implements EngineSource {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async *sessions(): AsyncIterable<MovedSession> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query<SessionRow>(
        `SELECT key, deleted::float8, before::float8, time::float8 FROM @sessions WHERE key > $1 ORDER BY key LIMIT ${rowsAtOnce}`,
        [after],
      );
      for (const { key, deleted, time } of rows)
        yield {
          key,
          deleted: deleted > 0 ? { seq: deleted, time } : undefined,
          events: () => readSession(this.#database, key),
        };
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsAtOnce) return;
      after = last.key;
    }
  }

  async state(): Promise<MovedState> {
    const database = this.#database;
    const records = await database.query<{ kind: string; id: string; value: string }>(
      "SELECT kind, id, value FROM @records WHERE value IS NOT NULL ORDER BY position",
    );
    const work = await database.query<WorkRow>(`SELECT ${workColumns} FROM @work ORDER BY job`);
    const dead = await database.query<DeadRow>(`SELECT ${deadColumns} FROM @dead ORDER BY position`);
    return {
      cursors: await database.query("SELECT name, value FROM @cursors ORDER BY name"),
      records: gathered(records),
      leases: await database.query("SELECT name, epoch::float8 FROM @leases ORDER BY name"),
      work: work.map((row) => ({ work: toStoredWork(row), crashes: row.crashes })),
      dead: dead.map(toDeadLetter),
    };
  }

  async *seen(): AsyncIterable<readonly SeenHash[]> {
    for (let after = ""; ; ) {
      const rows = await this.#database.query<{ id: string; at: number }>(
        `SELECT id, (extract(epoch FROM until - interval '${rememberedDays} days') * 1000)::float8 AS at
         FROM @seen WHERE id > $1 AND until > now() ORDER BY id LIMIT ${rowsAtOnce}`,
        [after],
      );
      yield rows.map(({ id, at }) => ({ hash: id.startsWith("h:") ? id.slice(2) : hashOf(id).toString("hex"), at }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < rowsAtOnce) return;
      after = last.id;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }
}

/** One for each record, with all that is counted of it. */
function gathered(
  rows: readonly { readonly kind: string; readonly id: string; readonly value: string }[],
): MovedState["records"] {
  const records = new Map<string, { readonly kind: string; readonly id: string; readonly value: unknown }>();
  for (const row of rows) {
    const kind = recordKindOf(row.kind);
    const name = `${kind}\n${row.id}`;
    const value = sumOf(records.get(name)?.value, JSON.parse(row.value));
    records.set(name, { kind, id: row.id, value });
  }
  return [...records.values()];
}
