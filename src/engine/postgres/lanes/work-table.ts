import { randomBytes } from "node:crypto";
import { deepFreeze } from "../../../util/deep-freeze.js";
import type { QueueName, StoredWork, Work } from "../../engine.js";
import { hashBytes } from "../../seen-hash.js";
import type { Database, Sql, Transaction } from "../sql/database.js";
import { Statement } from "../sql/statement.js";
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
const qualified = workColumns.replaceAll(/(^|, )/g, "$1b.");

/** A job that was claimed, with its work where that `isThere`: it was of a deleted session otherwise. */
export interface BegunRow extends WorkRow {
  readonly claim: string;
  readonly retryCount: number;
  readonly isThere: boolean;
  /** Up to where its session reaches by then. */
  readonly reached: number | null;
  /** More of its lane waits. */
  readonly hasOthers: boolean;
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

/** What a statement gives that takes work away or adds some. */
export interface WorkResult {
  readonly gone?: number;
  readonly hasNext?: boolean;
  readonly placed?: readonly string[] | null;
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
    const rows = await tx.query<{ id: string }>(`${rememberSql("$1")} RETURNING id`, [ids]);
    return rows.length === ids.length;
  }

  /** Makes a statement add work at the end of its lanes, and remember its ids. Its result names what was added: what is known is left out. */
  addTo(statement: Statement, works: readonly Work[], acceptedAt: number): void {
    if (works.length === 0) return;
    const value = statement.value.bind(statement);
    const [id, queue, key, session, dedup, body] = columnsOf(works).map((column) => `${value(column)}::text[]`);
    const bytes = value(works.map((work) => bytesOf(work.body)));
    const random = value(works.map(() => randomBytes(8).toString("hex")));
    statement.with("ids", `${rememberSql(value(works.flatMap(idsOf)))} RETURNING id`);
    statement.with(
      "d",
      `SELECT *, nextval('@positions') AS position
       FROM unnest(${id}, ${queue}, ${key}, ${session}, ${dedup}, ${body}, ${bytes}::int[], ${random}::text[])
         WITH ORDINALITY d (id, queue, key, session, dedup, body, bytes, random, n) ORDER BY n`,
    );
    statement.with(
      "w",
      `INSERT INTO @work (job, id, queue, key, session, dedup, body, bytes, accepted_at)
       SELECT (lpad(to_hex(position), 16, '0') || random)::uuid, id, queue, key, session, dedup, body, bytes,
         ${value(Math.round(acceptedAt))}::bigint FROM d
       WHERE 'w:' || id IN (SELECT id FROM ids) AND (dedup IS NULL OR 'd:' || dedup IN (SELECT id FROM ids))
         AND NOT EXISTS (SELECT 1 FROM @dead WHERE @dead.id = d.id)
       ON CONFLICT (id) DO NOTHING RETURNING id, job`,
    );
    for (const name of new Set(works.map((work) => work.queue)))
      this.#parts.jobs.addTo(
        statement,
        name,
        `SELECT w.job AS id, d.key AS "singletonKey", ${prioritySql("d.position")} AS priority
         FROM w JOIN d USING (id) WHERE d.queue = '${name}' ORDER BY d.n`,
      );
    statement.result("placed", "(SELECT json_agg(id) FROM w)");
  }

  /** Adds work at the end of its lanes. */
  async add(sql: Sql, works: readonly Work[], acceptedAt: number): Promise<void> {
    const statement = new Statement();
    this.addTo(statement, works, acceptedAt);
    await statement.run(sql);
  }

  /** Adds work that was buried, though its ids are known. */
  async addAgain(tx: Transaction, work: Work, acceptedAt: number): Promise<void> {
    await tx.query("DELETE FROM @seen WHERE id = ANY ($1::text[])", [idsOf(work)]);
    await this.add(tx, [work], acceptedAt);
  }

  /**
   * Claims the heads of free lanes and begins an attempt of each. One that another node has lost while it lived does not count; one
   * that ended with its process counts as a crash.
   */
  async begin(database: Database, queue: QueueName, most: number, deadMs: number): Promise<readonly BegunRow[]> {
    return await database.writePlanned<BegunRow>(
      `WITH c AS (${await this.#parts.jobs.claimSql(queue, most)}), b AS (
         UPDATE @work w SET node = $1, began_at = clock_timestamp(), not_before = NULL,
           attempts = w.attempts + CASE WHEN w.node IS NULL OR d.crashed THEN 1 ELSE 0 END,
           crashes = w.crashes + CASE WHEN d.crashed THEN 1 ELSE 0 END,
           points = w.points + CASE WHEN d.crashed AND d.seen < w.began_at + interval '${suspectSeconds} s' THEN 1 ELSE 0 END
         FROM (SELECT o.job, n.seen, o.node IS NOT NULL AND (n.id IS NULL
             OR n.seen < clock_timestamp() - $2::float8 * interval '1 ms') AS crashed
           FROM c JOIN @work o ON o.job = c.id LEFT JOIN @nodes n ON n.id = o.node) d
         WHERE w.job = d.job RETURNING w.*)
       SELECT ${qualified}, c.id AS claim, c."retryCount", b.job IS NOT NULL AS "isThere",
         (SELECT seq FROM @sessions s WHERE s.key = b.session)::float8 AS reached,
         EXISTS (SELECT 1 FROM @work x WHERE x.queue = b.queue AND x.key = b.key AND x.job <> b.job) AS "hasOthers"
       FROM c LEFT JOIN b ON b.job = c.id ORDER BY c.priority DESC`,
      [this.#parts.instanceId, deadMs],
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

  /**
   * Makes a statement take work away. Its result says how much it was, and whether more of its lane waits. What is next in the lane
   * comes to its head now, and this node may have no place for it.
   */
  removeBy(statement: Statement, { queue, key }: Pick<Work, "queue" | "key">, jobs: readonly string[]): void {
    const gone = `${statement.value(jobs)}::uuid[]`;
    const [queueSql, keySql] = [`${statement.value(queue)}::text`, `${statement.value(key)}::text`];
    statement.with("gone", `DELETE FROM @work WHERE job = ANY (${gone}) RETURNING 1`);
    statement.with(
      "next",
      `SELECT job, nextval('@positions') AS position FROM @work
       WHERE queue = ${queueSql} AND key = ${keySql} AND NOT job = ANY (${gone}) ORDER BY job LIMIT 1`,
    );
    statement.with(
      "head",
      `UPDATE @job_common j SET priority = ${prioritySql("next.position")} FROM next
       WHERE j.name = ${queueSql} AND j.id = next.job AND j.state = 'created'`,
    );
    statement.result("gone", "(SELECT count(*) FROM gone)");
    statement.result('"hasNext"', "EXISTS (SELECT 1 FROM next)");
  }

  /** Makes a statement keep a piece of work that is taken away. */
  buryBy(statement: Statement, job: string, { reason, at }: { readonly reason: string; readonly at: number }): void {
    statement.with(
      "buried",
      `INSERT INTO @dead (id, queue, key, session, dedup, body, accepted_at, attempts, reason, buried_at)
       SELECT id, queue, key, session, dedup, body, accepted_at, attempts, ${statement.value(reason)}::text,
         ${statement.value(Math.round(at))}::bigint FROM @work WHERE job = ${statement.value(job)}::uuid`,
    );
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
const rememberSql = (
  ids: string,
): string => `INSERT INTO @seen (id, until) SELECT unnest(${ids}::text[]), now() + interval '${rememberedDays} days'
  ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE @seen.until <= now()`;

/** Its place among all work that was ever accepted, which its job's id begins with. */
export function positionOf(job: string): number {
  return Number.parseInt(job.replaceAll("-", "").slice(0, 16), 16);
}

/** Roughly what it takes to keep it. */
export function bytesOf(body: Work["body"]): number {
  return 1000 + body.content.length + 300 * body.attachments.length;
}

/** Which of these were added. */
export function addedOf(works: readonly Work[], { placed }: WorkResult): readonly Work[] {
  const added = new Set(placed);
  return works.filter(({ id }) => added.delete(id));
}
