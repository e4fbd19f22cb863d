import { EngineError } from "../../../errors.js";
import type { QueueName } from "../../engine.js";
import type { Boss, JobAttempt } from "../modules.js";
import type { Transaction } from "../sql/database.js";
import { type GuardedDb, NotNow } from "../sql/guarded-db.js";

export const queueNames: readonly QueueName[] = ["inbound", "outbound"];

/** pg-boss never gives a job up by itself: a lane would stop behind it. */
const retryLimit = 2_000_000_000;
const yearSeconds = 365 * 24 * 60 * 60;
/** What pg-boss takes at least. */
const leastHeartbeatSeconds = 10;

/** The queues of pg-boss: who may work on which lane at the moment. */
export class Jobs {
  readonly #boss: Boss;
  readonly #supervisor: Boss;
  readonly #guard: GuardedDb;

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
  }

  async add(
    tx: Transaction,
    queue: QueueName,
    jobs: readonly { readonly job: string; readonly key: string; readonly position: number }[],
  ): Promise<void> {
    const rows = jobs.map(({ job, key, position }) => ({ id: job, singletonKey: key, priority: priorityOf(position) }));
    await this.#boss.insert(queue, rows, { db: tx.db });
  }

  /** Claims the heads of free lanes, those first that became heads first. */
  async claim(queue: QueueName, most: number): Promise<readonly JobAttempt[]> {
    const jobs = await this.#boss.fetch(queue, { batchSize: most, includeMetadata: true });
    return jobs.toSorted((a, b) => b.priority - a.priority).map(({ id, retryCount }) => ({ id, retryCount }));
  }

  /** Renews claims; gives the ids of those that are still held. */
  async renew(queue: QueueName, attempts: readonly JobAttempt[]): Promise<ReadonlySet<string>> {
    return new Set((await this.#boss.touch(queue, attempts)).settled);
  }

  /** @throws {EngineError} `fenced` when another attempt has the job by now, or nobody */
  async assertHeld(tx: Transaction, queue: QueueName, attempt: JobAttempt): Promise<void> {
    assertOne((await this.#boss.touch(queue, [attempt], { db: tx.db })).affected);
  }

  /** The job is done. @throws {EngineError} `fenced` */
  async finish(tx: Transaction, queue: QueueName, attempt: JobAttempt, claimed: readonly string[]): Promise<void> {
    assertOne((await this.#boss.deleteJob(queue, attempt, { db: tx.db })).affected);
    if (claimed.length > 0) await this.#boss.deleteJob(queue, claimed, { db: tx.db });
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
function priorityOf(position: number): number {
  return -(position % 2 ** 31);
}

/** The same for one that has come to the head of its lane. */
export function prioritySql(position: string): string {
  return `-(${position} % 2147483648)::int`;
}

function assertOne(affected: number): void {
  if (affected !== 1)
    throw new EngineError("This attempt has ended: another one has its work, or it is done", { kind: "fenced" });
}
