import { randomBytes } from "node:crypto";
import { deepFreeze } from "../../../util/deep-freeze.js";
import type { QueueName, StoredWork, Work } from "../../engine.js";
import { hashBytes } from "../../seen-hash.js";
import type { Sql, Transaction } from "../sql/database.js";
import { type Jobs, prioritySql } from "./jobs.js";

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

export const workColumns = "job, id, queue, key, session, dedup, body, accepted_at::float8, attempts, crashes, points";
const qualified = workColumns.replaceAll(/(^|, )/g, "$1w.");

/** Work that an attempt begins with, and up to where its session reaches by then. */
export interface BegunRow extends WorkRow {
  readonly reached: number | null;
}

/** Ids are remembered for so long. */
export const rememberedDays = 7;
/** The end of a process speaks against what it had begun so shortly before. */
const suspectSeconds = 60;

/** What is known before work is added. */
export interface Room {
  readonly isKnown: boolean;
  readonly count: number;
  readonly bytes: number;
}

/** What is known once work is taken away. */
export interface Removed {
  readonly count: number;
  readonly hasNext: boolean;
}

/** The number of pieces that were added or are gone, for the counts that a node shows. */
export type Change = Readonly<Partial<Record<QueueName | "dead", number>>>;

/** What waits and runs, beside the jobs of pg-boss, which say whose turn it is. */
export class WorkTable {
  readonly #parts: { readonly jobs: Jobs; readonly instanceId: string };

  constructor(parts: { readonly jobs: Jobs; readonly instanceId: string }) {
    this.#parts = parts;
  }

  /** What is known of some work, in its order, and locks their sessions, so that their events come in this order, too. */
  async look(sql: Sql, works: readonly Work[]): Promise<readonly Room[]> {
    return await sql.query<Room>(
      `WITH locked AS (SELECT 1 FROM @sessions WHERE key = ANY ($5::text[]) ORDER BY key FOR UPDATE)
       SELECT ${isKnownSql} AS "isKnown", l.count, l.bytes, (SELECT count(*) FROM locked) AS locked
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY d (id, dedup, queue, key, n)
       CROSS JOIN LATERAL (SELECT count(*)::float8 AS count, coalesce(sum(bytes), 0)::float8 AS bytes
         FROM @work w WHERE w.queue = d.queue AND w.key = d.key) l ORDER BY d.n`,
      [
        works.map(({ id }) => id),
        works.map(({ dedupId }) => dedupId ?? null),
        works.map(({ queue }) => queue),
        works.map(({ key }) => key),
        works.map(({ sessionKey }) => sessionKey),
      ],
    );
  }

  /** Remembers the ids of work that is never taken. False: one of them is known. */
  async remember(tx: Transaction, work: Work): Promise<boolean> {
    const [room] = await this.look(tx, [work]);
    if (room?.isKnown === true) return false;
    const ids = idsOf(work);
    const rows = await tx.query<{ id: string }>(`${rememberSql} RETURNING id`, [ids]);
    return rows.length === ids.length;
  }

  /** Adds work at the end of its lanes, and remembers its ids. Gives what was added: what is known is left out. */
  async add(tx: Transaction, works: readonly Work[], acceptedAt: number): Promise<readonly Work[]> {
    if (works.length === 0) return [];
    const placed = await tx.query<{ id: string; queue: QueueName; key: string; job: string; position: number }>(
      `WITH ids AS (${rememberSql} RETURNING id), d AS (
         SELECT *, nextval('@positions') AS position
         FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[])
           WITH ORDINALITY d (id, queue, key, session, dedup, body, bytes, random, n) ORDER BY n
       ), w AS (
         INSERT INTO @work (job, id, queue, key, session, dedup, body, bytes, accepted_at)
         SELECT (lpad(to_hex(position), 16, '0') || random)::uuid, id, queue, key, session, dedup, body, bytes, $10 FROM d
         WHERE 'w:' || id IN (SELECT id FROM ids) AND (dedup IS NULL OR 'd:' || dedup IN (SELECT id FROM ids))
           AND NOT EXISTS (SELECT 1 FROM @dead WHERE @dead.id = d.id)
         ON CONFLICT (id) DO NOTHING RETURNING id, job
       )
       SELECT w.id, d.queue, d.key, w.job, d.position::float8 AS position
       FROM w JOIN d USING (id) ORDER BY d.n`,
      [
        works.flatMap(idsOf),
        ...columnsOf(works),
        works.map(({ body }) => bytesOf(body)),
        works.map(() => randomBytes(8).toString("hex")),
        Math.round(acceptedAt),
      ],
    );
    await this.#addJobs(tx, placed);
    const added = new Set(placed.map(({ id }) => id));
    return works.filter(({ id }) => added.delete(id));
  }

  /** Adds work that was buried, though its ids are known. */
  async addAgain(tx: Transaction, work: Work, acceptedAt: number): Promise<void> {
    await tx.query("DELETE FROM @seen WHERE id = ANY ($1::text[])", [idsOf(work)]);
    await this.add(tx, [work], acceptedAt);
  }

  async #addJobs(
    tx: Transaction,
    placed: readonly {
      readonly queue: QueueName;
      readonly key: string;
      readonly job: string;
      readonly position: number;
    }[],
  ): Promise<void> {
    for (const queue of new Set(placed.map((one) => one.queue)))
      await this.#parts.jobs.add(
        tx,
        queue,
        placed.filter((one) => one.queue === queue),
      );
  }

  /**
   * Begins an attempt of each claimed job. One that another node has lost while it lived does not count; one that ended with
   * its process counts as a crash. Jobs without a row are of a deleted session.
   */
  async begin(sql: Sql, jobs: readonly string[], deadMs: number): Promise<readonly BegunRow[]> {
    return await sql.query<BegunRow>(
      `UPDATE @work w SET node = $2, began_at = clock_timestamp(), not_before = NULL,
         attempts = w.attempts + CASE WHEN w.node IS NULL OR d.crashed THEN 1 ELSE 0 END,
         crashes = w.crashes + CASE WHEN d.crashed THEN 1 ELSE 0 END,
         points = w.points + CASE WHEN d.crashed AND d.seen < w.began_at + interval '${suspectSeconds} s' THEN 1 ELSE 0 END
       FROM (SELECT o.job, n.seen, o.node IS NOT NULL AND (n.id IS NULL
           OR n.seen < clock_timestamp() - $3::float8 * interval '1 ms') AS crashed
         FROM @work o LEFT JOIN @nodes n ON n.id = o.node WHERE o.job = ANY ($1::uuid[])) d
       WHERE w.job = d.job RETURNING ${qualified}, (SELECT seq FROM @sessions s WHERE s.key = w.session)::float8 AS reached`,
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
       WHERE job = $1`,
      [job, delayMs, isCounted ? 0 : 1],
    );
  }

  /** Takes work away; gives how much it was, and whether more of its lane waits. What is next in the lane comes to its head now, and this node may have no place for it. */
  async remove(
    tx: Transaction,
    { queue, key }: Pick<Work, "queue" | "key">,
    gone: readonly string[],
  ): Promise<Removed> {
    const [row] = await tx.query<Removed>(
      `WITH gone AS (DELETE FROM @work WHERE job = ANY ($1::uuid[]) RETURNING 1),
       next AS (SELECT job, nextval('@positions') AS position FROM @work WHERE queue = $2 AND key = $3
         AND NOT job = ANY ($1::uuid[]) ORDER BY job LIMIT 1),
       head AS (UPDATE @job j SET priority = ${prioritySql("next.position")} FROM next
         WHERE j.name = $2 AND j.id = next.job AND j.state = 'created')
       SELECT (SELECT count(*) FROM gone)::float8 AS count, EXISTS (SELECT 1 FROM next) AS "hasNext"`,
      [gone, queue, key],
    );
    return row ?? { count: 0, hasNext: false };
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

  async lane(sql: Sql, queue: QueueName, key: string): Promise<readonly WorkRow[]> {
    return await sql.query<WorkRow>(`SELECT ${workColumns} FROM @work WHERE queue = $1 AND key = $2 ORDER BY job`, [
      queue,
      key,
    ]);
  }

  async one(sql: Sql, queue: QueueName, id: string): Promise<WorkRow | undefined> {
    const [row] = await sql.query<WorkRow>(`SELECT ${workColumns} FROM @work WHERE queue = $1 AND id = $2`, [
      queue,
      id,
    ]);
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

/** By what it is known when it comes again. */
export function idsOf({ id, dedupId }: Work): readonly string[] {
  return [`w:${id}`, ...(dedupId === undefined ? [] : [`d:${dedupId}`])];
}

/** What was accepted in files of a home, before it was moved here, may be known by its hash alone. */
const hashSql = (id: string): string =>
  `'h:' || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), ${2 * hashBytes})`;

const isKnownSql = `(EXISTS (SELECT 1 FROM @seen s
    WHERE s.id IN ('w:' || d.id, 'd:' || d.dedup, ${hashSql("'w:' || d.id")}, ${hashSql("'d:' || d.dedup")}) AND s.until > now())
  OR EXISTS (SELECT 1 FROM @work w WHERE w.id = d.id) OR EXISTS (SELECT 1 FROM @dead x WHERE x.id = d.id))`;

/** Another node that accepts the same at this moment is waited for. */
const rememberSql = `INSERT INTO @seen (id, until) SELECT unnest($1::text[]), now() + interval '${rememberedDays} days'
  ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE @seen.until <= now()`;

/** Its place among all work that was ever accepted, which its job's id begins with. */
export function positionOf(job: string): number {
  return Number.parseInt(job.replaceAll("-", "").slice(0, 16), 16);
}

/** Roughly what it takes to keep it. */
export function bytesOf(body: Work["body"]): number {
  return 1000 + body.content.length + 300 * body.attachments.length;
}
