import { randomUUID } from "node:crypto";
import { EngineError } from "../../../errors.js";
import type { QueueName } from "../../engine.js";
import type { Boss, BossDb, JobAttempt } from "../modules.js";
import type { Transaction } from "../sql/database.js";
import { type GuardedDb, NotNow } from "../sql/guarded-db.js";
import type { Statement } from "../sql/statement.js";

export const queueNames: readonly QueueName[] = ["inbound", "outbound"];

/** pg-boss never gives a job up by itself: a lane would stop behind it. */
const retryLimit = 2_000_000_000;
/** How the statement of pg-boss that adds jobs names them. */
const jobsParameter = "$1::text::json";
const yearSeconds = 365 * 24 * 60 * 60;
/** What pg-boss takes at least. */
const leastHeartbeatSeconds = 10;

/** The queues of pg-boss: who may work on which lane at the moment. */
export class Jobs {
  readonly #boss: Boss;
  readonly #supervisor: Boss;
  readonly #guard: GuardedDb;
  /** What pg-boss would run to add jobs. */
  readonly #inserts = new Map<QueueName, string>();
  /** The same to claim so many. */
  readonly #claims = new Map<string, string>();

  /** `supervisor` is on `guard`. */
  constructor(boss: Boss, supervisor: Boss, guard: GuardedDb) {
    this.#boss = boss;
    this.#supervisor = supervisor;
    this.#guard = guard;
  }

  /** `heartbeatSeconds`: below ten only where the table is changed afterwards. */
  async open(claimMs: number): Promise<void> {
    await this.#boss.start();
    await this.#supervisor.start();
    const heartbeatSeconds = Math.max(leastHeartbeatSeconds, Math.ceil(claimMs / 1000));
    const options = {
      retryLimit,
      retryDelay: 0,
      retryBackoff: false,
      expireInSeconds: 24 * 60 * 60,
      retentionSeconds: yearSeconds,
      heartbeatSeconds,
    };
    for (const name of queueNames)
      if ((await this.#boss.getQueue(name)) === null)
        await this.#boss.createQueue(name, { ...options, policy: "key_strict_fifo" });
    const any = { id: randomUUID(), singletonKey: "none", priority: 0 };
    for (const name of queueNames) {
      const text = await textOf((db) => this.#boss.insert(name, [any], { db }));
      if (text.split(jobsParameter).length !== 2) throw unknownBoss();
      this.#inserts.set(name, text);
    }
  }

  /** Makes a statement add jobs: `rows` gives their id, "singletonKey" and priority. */
  addTo(statement: Statement, queue: QueueName, rows: string): void {
    const text = this.#inserts.get(queue);
    if (text === undefined) throw new Error(`The queue ${queue} is not open`);
    statement.with(`${queue}_rows`, rows);
    const json = `(SELECT coalesce(json_agg(r), '[]') FROM ${queue}_rows r)`;
    statement.with(
      `${queue}_jobs`,
      text.replace(jobsParameter, () => json),
    );
  }

  /** Makes a statement do nothing unless this attempt has the job until its end. With `isDone` the job is deleted, and `claimed` with it. */
  requireHeld(
    statement: Statement,
    queue: QueueName,
    { id, retryCount }: JobAttempt,
    done?: { readonly claimed: readonly string[] },
  ): void {
    const name = `${statement.value(queue)}::text`;
    const held = `FROM @job_common WHERE name = ${name} AND id = ${statement.value(id)}::uuid AND state = 'active'
      AND retry_count = ${statement.value(retryCount)}::int`;
    statement.with("held", done === undefined ? `SELECT 1 ${held} FOR SHARE` : `DELETE ${held} RETURNING 1`);
    statement.mustHave("held");
    if (done !== undefined && done.claimed.length > 0)
      statement.with(
        "taken_along",
        `DELETE FROM @job_common WHERE name = ${name} AND id = ANY (${statement.value(done.claimed)}::uuid[])`,
      );
  }

  /** The statement that claims the heads of free lanes: it gives their id, "retryCount" and priority. Who became a head first has the highest. */
  async claimSql(queue: QueueName, most: number): Promise<string> {
    const name = `${queue} ${most}`;
    const known = this.#claims.get(name);
    if (known !== undefined) return known;
    const text = await textOf((db) => this.#boss.fetch(queue, { batchSize: most, includeMetadata: true, db }));
    // Values of its own would be mistaken for those of the statement around it.
    if (/\$\d/.test(text)) throw unknownBoss();
    this.#claims.set(name, text);
    return text;
  }

  /** Renews claims; gives the ids of those that are still held. */
  async renew(queue: QueueName, attempts: readonly JobAttempt[]): Promise<ReadonlySet<string>> {
    return new Set((await this.#boss.touch(queue, attempts)).settled);
  }

  /** The job may be claimed again after a while, in its old place. @throws {EngineError} `fenced` */
  async giveBack(tx: Transaction, queue: QueueName, attempt: JobAttempt, delayMs: number): Promise<void> {
    assertOne((await this.#boss.fail(queue, attempt, null, { db: tx.db })).affected);
    if (delayMs > 0) {
      const startAfter = `${Math.ceil(delayMs)} milliseconds`;
      await this.#boss.update(queue, undefined, { id: attempt.id, startAfter, db: tx.db });
    }
  }

  async drop(tx: Transaction, queue: QueueName, jobs: readonly string[]): Promise<void> {
    if (jobs.length > 0) await this.#boss.deleteJob(queue, jobs, { db: tx.db });
  }

  /** Takes away the claims of nodes that have not renewed them. */
  async supervise(): Promise<void> {
    this.#guard.isGuarding = true;
    await this.#supervisor.supervise().catch((error: unknown) => {
      if (!(error instanceof NotNow)) throw error;
    });
  }

  async close(): Promise<void> {
    await this.#supervisor.stop({ graceful: false, close: false });
    await this.#boss.stop({ graceful: false, close: false });
  }
}

/** Who came to the head of a lane first goes first: pg-boss takes the highest, and has 32 bits for it. */
export function prioritySql(position: string): string {
  return `-(${position} % 2147483648)::int`;
}

/** What pg-boss would ask the database. It is not asked: the text becomes a part of statements of ours. */
async function textOf(call: (db: BossDb) => Promise<unknown>): Promise<string> {
  const texts: string[] = [];
  await call({
    async executeSql(text) {
      texts.push(text);
      return { rows: [] };
    },
  });
  const [text = ""] = texts;
  if (texts.length !== 1 || text.includes("@")) throw unknownBoss();
  return text;
}

function unknownBoss(): Error {
  return new Error("This version of pg-boss cannot be used. Install the right one: maxclaw add postgres");
}

function assertOne(affected: number): void {
  if (affected !== 1)
    throw new EngineError("This attempt has ended: another one has its work, or it is done", { kind: "fenced" });
}
