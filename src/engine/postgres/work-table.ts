import { randomBytes } from "node:crypto";
import { deepFreeze } from "../../util/deep-freeze.js";
import type { QueueName, StoredWork, Work } from "../engine.js";
import type { Sql, Transaction } from "./database.js";
import type { Jobs } from "./jobs.js";
import { signalSql } from "./signals.js";

/** A piece of work as it is in its row. */
export interface WorkRow {
  readonly job: string;
  readonly id: string;
  readonly queue: QueueName;
  readonly key: string;
  readonly session: string;
  readonly dedup: string | null;
  readonly body: string;
  readonly accepted_at: number;
  readonly attempts: number;
  readonly crashes: number;
  /** How often a process ended soon after it had begun with this. */
  readonly points: number;
}

const columns = "job, id, queue, key, session, dedup, body, accepted_at::float8, attempts, crashes, points";
const qualified = columns.replaceAll(/(^|, )/g, "$1w.");

/** Ids are remembered for so long. */
const rememberedDays = 7;
/** The end of a process speaks against what it had begun so shortly before. */
const suspectSeconds = 60;

/** What is known before work is added. */
export interface Room {
  readonly isKnown: boolean;
  readonly count: number;
  readonly bytes: number;
}

/** The number of pieces that were added or are gone, for the counts that a node shows. */
export type Change = Readonly<Partial<Record<QueueName | "dead", number>>>;

/** What waits and runs, beside the jobs of pg-boss, which say whose turn it is. */
export class WorkTable {
  readonly #parts: { readonly jobs: Jobs; readonly channel: string; readonly instanceId: string };

  constructor(parts: { readonly jobs: Jobs; readonly channel: string; readonly instanceId: string }) {
    this.#parts = parts;
  }

  async look(sql: Sql, work: Work): Promise<Room> {
    const [row] = await sql.query<Room>(
      `SELECT ${knownSql("$1", "$2")} AS "isKnown", count(*)::float8 AS count, coalesce(sum(bytes), 0)::float8 AS bytes
       FROM @work WHERE queue = $3 AND key = $4`,
      [idsOf(work), work.id, work.queue, work.key],
    );
    return row ?? { isKnown: false, count: 0, bytes: 0 };
  }

  /** Of some work, what was never accepted before. */
  async unknown(sql: Sql, works: readonly Work[]): Promise<readonly Work[]> {
    const unknown: Work[] = [];
    for (const work of works)
      if (!(await this.look(sql, work)).isKnown && !unknown.some(({ id }) => id === work.id)) unknown.push(work);
    return unknown;
  }

  /** Remembers ids. @returns false when one of them was known, e.g. since a moment ago by another node */
  async remember(sql: Sql, works: readonly Work[]): Promise<boolean> {
    const ids = works.flatMap(idsOf);
    const rows = await sql.query(
      `INSERT INTO @seen (id, until) SELECT unnest($1::text[]), now() + interval '${rememberedDays} days'
       ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE @seen.until <= now() RETURNING id`,
      [ids],
    );
    return rows.length === new Set(ids).size;
  }

  /** Adds work whose ids are remembered, at the end of its lanes. */
  async add(tx: Transaction, works: readonly Work[], acceptedAt: number): Promise<void> {
    if (works.length === 0) return;
    const { jobs, channel, instanceId } = this.#parts;
    const rows = await tx.query<{ position: number }>(
      "SELECT nextval('@positions')::float8 AS position FROM generate_series(1, $1)",
      [works.length],
    );
    const placed = works.map((work, index) => {
      const position = rows[index]?.position ?? 0;
      return { work, position, key: work.key, job: jobIdOf(position) };
    });
    await tx.query(
      `INSERT INTO @work (job, id, queue, key, session, dedup, body, bytes, accepted_at)
       SELECT d.*, $9::bigint FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
         $8::int[]) d`,
      [
        placed.map(({ job }) => job),
        ...columnsOf(works),
        works.map(({ body }) => bytesOf(body)),
        Math.round(acceptedAt),
      ],
    );
    for (const queue of new Set(works.map((work) => work.queue)))
      await jobs.add(
        tx,
        queue,
        placed.filter(({ work }) => work.queue === queue),
      );
    await tx.query(
      `SELECT ${signalSql("$1", "json_build_object('n', $2::text, 'w', json_build_array(d.queue, d.key, d.id))")}
       FROM unnest($3::text[], $4::text[], $5::text[]) d (queue, key, id)`,
      [channel, instanceId, works.map(({ queue }) => queue), works.map(({ key }) => key), works.map(({ id }) => id)],
    );
  }

  /**
   * Begins an attempt of each claimed job. One that another node has lost while it lived does not count; one that ended with
   * its process counts as a crash. Jobs without a row are of a deleted session.
   */
  async begin(sql: Sql, jobs: readonly string[], deadMs: number): Promise<readonly WorkRow[]> {
    return await sql.query<WorkRow>(
      `UPDATE @work w SET node = $2, began_at = clock_timestamp(), not_before = NULL,
         attempts = w.attempts + CASE WHEN w.node IS NULL OR d.crashed THEN 1 ELSE 0 END,
         crashes = w.crashes + CASE WHEN d.crashed THEN 1 ELSE 0 END,
         points = w.points + CASE WHEN d.crashed AND d.seen < w.began_at + interval '${suspectSeconds} s' THEN 1 ELSE 0 END
       FROM (SELECT o.job, n.seen, o.node IS NOT NULL AND (n.id IS NULL
           OR n.seen < clock_timestamp() - $3::float8 * interval '1 ms') AS crashed
         FROM @work o LEFT JOIN @nodes n ON n.id = o.node WHERE o.job = ANY ($1::uuid[])) d
       WHERE w.job = d.job RETURNING ${qualified}`,
      [jobs, this.#parts.instanceId, deadMs],
    );
  }

  /** Changes the count of attempts of work that is held. `isRunning`: the end of the process would be a crash. */
  async count(sql: Sql, job: string, add: number, isRunning: boolean): Promise<void> {
    await sql.query(
      "UPDATE @work SET attempts = greatest(0, attempts + $2), node = $3, began_at = clock_timestamp() WHERE job = $1",
      [job, add, isRunning ? this.#parts.instanceId : null],
    );
  }

  /** The attempt is over, and the next one begins after a while. `isCounted`: it has failed by itself. */
  async end(sql: Sql, job: string, { delayMs, isCounted }: { delayMs: number; isCounted: boolean }): Promise<void> {
    await sql.query(
      `UPDATE @work SET node = NULL, not_before = now() + $2::float8 * interval '1 ms',
         attempts = greatest(0, attempts - $3), points = CASE WHEN $3 = 0 THEN 0 ELSE points END
       WHERE job = $1 RETURNING ${this.#wakeSql("$4", "$5", "queue")}`,
      [job, delayMs, isCounted ? 0 : 1, ...this.#told],
    );
  }

  /** Takes work away. Gives how much it was, and makes what is next in its lane the head of it. */
  async remove(tx: Transaction, { queue, key }: Pick<Work, "queue" | "key">, gone: readonly string[]): Promise<number> {
    const [row] = await tx.query<{ count: number; next: string | null; position: number }>(
      `WITH gone AS (DELETE FROM @work WHERE job = ANY ($1::uuid[]) RETURNING 1)
       SELECT (SELECT count(*) FROM gone)::float8 AS count, (SELECT job FROM @work WHERE queue = $2 AND key = $3
         AND NOT job = ANY ($1::uuid[]) ORDER BY job LIMIT 1) AS next, nextval('@positions')::float8 AS position`,
      [gone, queue, key],
    );
    if (row === undefined) return 0;
    if (row.next !== null) {
      await this.#parts.jobs.makeHead(tx, queue, row.next, row.position);
      // This node may have no place for it.
      await tx.query(`SELECT ${this.#wakeSql("$1", "$2", "$3::text")}`, [...this.#told, queue]);
    }
    return row.count;
  }

  /** Drops all that belongs to a session. */
  async removeSession(tx: Transaction, sessionKey: string): Promise<Change> {
    const rows = await tx.query<{ job: string; queue: QueueName }>(
      "DELETE FROM @work WHERE session = $1 RETURNING job, queue",
      [sessionKey],
    );
    const change: Partial<Record<QueueName, number>> = {};
    for (const queue of new Set(rows.map((row) => row.queue))) {
      const jobs = rows.filter((row) => row.queue === queue).map(({ job }) => job);
      await this.#parts.jobs.drop(tx, queue, jobs);
      change[queue] = -jobs.length;
    }
    return change;
  }

  get #told(): readonly string[] {
    return [this.#parts.channel, this.#parts.instanceId];
  }

  #wakeSql(channel: string, node: string, queue: string): string {
    return signalSql(channel, `json_build_object('n', ${node}::text, 'q', ${queue})`);
  }

  async lane(sql: Sql, queue: QueueName, key: string): Promise<readonly WorkRow[]> {
    return await sql.query<WorkRow>(`SELECT ${columns} FROM @work WHERE queue = $1 AND key = $2 ORDER BY job`, [
      queue,
      key,
    ]);
  }

  async one(sql: Sql, queue: QueueName, id: string): Promise<WorkRow | undefined> {
    const [row] = await sql.query<WorkRow>(`SELECT ${columns} FROM @work WHERE queue = $1 AND id = $2`, [queue, id]);
    return row;
  }
}

export function toStoredWork(row: Omit<WorkRow, "job" | "crashes" | "points">): StoredWork {
  const { id, queue, key, session, dedup, body, accepted_at: acceptedAt, attempts } = row;
  const common = { id, key, sessionKey: session, acceptedAt, attempts, ...(dedup === null ? {} : { dedupId: dedup }) };
  // The body is what was accepted in this queue.
  return deepFreeze({ ...common, queue, body: JSON.parse(body) }) as StoredWork;
}

/** The columns id, queue, key, session, dedup and body. */
export function columnsOf(works: readonly Work[]): readonly (readonly unknown[])[] {
  return [
    works.map(({ id }) => id),
    works.map(({ queue }) => queue),
    works.map(({ key }) => key),
    works.map(({ sessionKey }) => sessionKey),
    works.map(({ dedupId }) => dedupId ?? null),
    works.map(({ body }) => JSON.stringify(body)),
  ];
}

function idsOf({ id, dedupId }: Work): readonly string[] {
  return [`w:${id}`, ...(dedupId === undefined ? [] : [`d:${dedupId}`])];
}

function knownSql(ids: string, id: string): string {
  return `(EXISTS (SELECT 1 FROM @seen WHERE id = ANY (${ids}::text[]) AND until > now())
    OR EXISTS (SELECT 1 FROM @work WHERE id = ${id}) OR EXISTS (SELECT 1 FROM @dead WHERE id = ${id}))`;
}

/** In one transaction pg-boss keeps the order of the ids: the position first, then what makes it one of a kind. */
function jobIdOf(position: number): string {
  const digits = position.toString(16).padStart(16, "0") + randomBytes(8).toString("hex");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Roughly what it takes to keep it. */
function bytesOf(body: Work["body"]): number {
  return 1000 + body.content.length + 300 * body.attachments.length;
}
