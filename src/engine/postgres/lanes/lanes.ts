import PQueue from "p-queue";
import { EngineError, messageOf } from "../../../errors.js";
import { draft } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { backoffMs } from "../../../util/async/backoff.js";
import { InOrder } from "../../../util/async/in-order.js";
import { linked } from "../../../util/async/linked.js";
import { settledWithin } from "../../../util/async/within.js";
import type { ConsumeOptions, Handler, QueueName, StoredWork } from "../../engine.js";
import { Slot } from "../../slot.js";
import type { JobAttempt } from "../modules.js";
import type { Node } from "../node.js";
import type { Sql } from "../sql/database.js";
import { type Attempt, fence } from "./attempt.js";
import { giveBack, LaneDelivery } from "./delivery.js";
import { queueNames } from "./jobs.js";
import { type BegunRow, positionOf, toStoredWork } from "./work-table.js";

const retry = { firstMs: 500, longestMs: 30_000 };
/** So many ends of processes soon after the begin of the same work: it is what ends them. */
const fatalPoints = 5;
/** Work that may end a process waits so long for another such one here. */
const suspectWaitMs = 1000;
const longestTimerMs = 2 ** 31 - 1;
/** Claims are taken in steps, so that several nodes get some. */
const mostAtOnce = 16;

const anyLane = "*";

interface Consumer {
  readonly queue: QueueName;
  /** Without end: infinite. */
  readonly maxAttempts: number;
  readonly parallel: number;
  readonly handler: Handler<QueueName>;
  readonly signal: AbortSignal;
  readonly slots: PQueue;
  readonly running: Set<Promise<void>>;
  /** There may be more than it had places for. */
  isHungry: boolean;
  /** Something may be there to be claimed. */
  wake: () => void;
}

export interface LanesOptions {
  /** A node that has not shown itself for so long has ended. */
  readonly deadMs: number;
  /** A claim that was not renewed for so long is given up. */
  readonly claimMs: number;
  readonly pollMs: () => number;
  readonly log: Logger;
}

/** Hands out what this node can claim of the lanes' heads, and keeps the claims. */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #consumers = new Set<Consumer>();
  readonly #attempts = new Set<Attempt>();
  /** A lane's next handler begins once the one before it has settled, not only its attempt. */
  readonly #handlers = new InOrder<string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** For each claim that is on its way, the lanes in which there is new work since it was asked for. */
  readonly #claiming = new Set<Set<string>>();
  #isClosed = false;
  #firstPosition = Number.POSITIVE_INFINITY;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Of what was accepted before this node began, nobody here has seen all of its past. */
  async open(sql: Sql): Promise<void> {
    const [row] = await sql.query<{ position: number }>(
      "SELECT (last_value - (NOT is_called)::int)::float8 AS position FROM @positions",
    );
    this.#firstPosition = row?.position ?? this.#firstPosition;
  }

  async consume(
    node: Node,
    queue: QueueName,
    { parallel, maxAttempts = Number.POSITIVE_INFINITY }: ConsumeOptions,
    handler: Handler<QueueName>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const slots = new PQueue({ concurrency: parallel });
    const consumer: Consumer = {
      ...{ queue, maxAttempts, parallel, handler, signal, slots },
      running: new Set(),
      isHungry: true,
      wake: () => {},
    };
    slots.on("next", () => {
      if (consumer.isHungry) consumer.wake();
    });
    this.#consumers.add(consumer);
    const onAbort = (): void => consumer.wake();
    signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      const isWoken = new Promise<void>((resolve) => {
        consumer.wake = resolve;
      });
      const hasMore = await this.#claimSome(node, consumer);
      if (!hasMore) await settledWithin(isWoken, { ms: this.#options.pollMs() });
    }
    signal.removeEventListener("abort", onAbort);
    this.#consumers.delete(consumer);
    await Promise.all(consumer.running);
  }

  /** New work is in a lane: the attempt that works there sees it, and free places look for it. */
  accepted(work: StoredWork): void {
    this.noteNew(work.queue, work.key);
    for (const attempt of this.#attempts) {
      if (attempt.queue === work.queue && attempt.work.key === work.key) this.#tell(attempt, work);
    }
    this.wake(work.queue);
  }

  /** There is new work in a lane. Gives whether anybody here wants to see it. */
  noteNew(queue: QueueName, key: string): boolean {
    for (const lanes of this.#claiming) lanes.add(laneOf({ queue, key }));
    const attempts = [...this.#attempts].filter((attempt) => attempt.queue === queue && attempt.work.key === key);
    for (const attempt of attempts) attempt.mayHaveOthers = true;
    return attempts.some(({ listeners }) => listeners.size > 0);
  }

  /** Something may have been missed. */
  doubt(): void {
    for (const lanes of this.#claiming) lanes.add(anyLane);
    for (const attempt of this.#attempts) attempt.mayHaveOthers = true;
  }

  wake(queue: QueueName): void {
    for (const consumer of this.#consumers) if (consumer.queue === queue) consumer.wake();
  }

  wakeAfter(queue: QueueName, delayMs: number): void {
    if (delayMs <= 0) {
      this.wake(queue);
      return;
    }
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.wake(queue);
      },
      Math.min(delayMs + 5, longestTimerMs),
    );
    this.#timers.add(timer.unref());
  }

  /** Renews the claims of all attempts. One that is not held any more is over. */
  async renew(node: Node): Promise<void> {
    for (const queue of queueNames) {
      const attempts = [...this.#attempts].filter((attempt) => attempt.queue === queue && !attempt.isEnded);
      if (attempts.length === 0) continue;
      const askedAt = performance.now();
      const held = await node.jobs.renew(
        queue,
        attempts.map(({ claim }) => claim),
      );
      for (const attempt of attempts)
        if (held.has(attempt.claim.id)) attempt.renewedAt = askedAt;
        else fence(attempt, "this node did not renew its claim in time");
    }
  }

  /**
   * Ends what this node could not renew for so long that another one may have it, whether or not the database can be asked.
   * What nobody has taken meanwhile is given back.
   */
  lapse(node: Node): void {
    const latest = performance.now() - this.#options.claimMs;
    for (const attempt of this.held()) {
      if (attempt.renewedAt > latest) continue;
      this.#lose(attempt);
      void this.#insist(() => giveBack(node, attempt, 0));
    }
  }

  /** `before`: what was accepted behind this place is of the session's next life. */
  fenceSession(sessionKey: string, before = Number.POSITIVE_INFINITY): void {
    for (const attempt of this.#attempts)
      if (attempt.work.sessionKey === sessionKey && positionOf(attempt.claim.id) < before)
        fence(attempt, "its session was deleted");
  }

  /** The attempts that have not ended. */
  held(): readonly Attempt[] {
    return [...this.#attempts].filter(({ isEnded }) => !isEnded);
  }

  /** Ends everything that still runs. */
  fenceAll(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    for (const attempt of this.#attempts) fence(attempt, "the engine is closed");
  }

  /** Claims as much as there are free places for. True: there may be more. */
  async #claimSome(node: Node, consumer: Consumer): Promise<boolean> {
    const { queue, parallel, slots } = consumer;
    const free = Math.min(parallel - slots.pending - slots.size, mostAtOnce);
    consumer.isHungry = true;
    if (free <= 0) return false;
    const joined = new Set<string>();
    this.#claiming.add(joined);
    try {
      const askedAt = performance.now();
      const rows = await node.work.begin(node.database, queue, free, this.#options.deadMs);
      if (rows.length > 0) node.boundary("attempt:started", queue);
      for (const row of rows) this.#begin(node, consumer, row, { askedAt, joined });
      // The answer may have come too late.
      this.lapse(node);
      consumer.isHungry = rows.length === free;
      return consumer.isHungry;
    } catch (error) {
      this.#options.log.debug("no work could be claimed", { queue, error });
      return false;
    } finally {
      this.#claiming.delete(joined);
    }
  }

  #begin(
    node: Node,
    consumer: Consumer,
    row: BegunRow,
    { askedAt, joined }: { readonly askedAt: number; readonly joined: ReadonlySet<string> },
  ): void {
    const claim = { id: row.claim, retryCount: row.retryCount };
    if (!row.isThere) return void this.#dropJob(node, consumer.queue, claim);
    const abort = linked(consumer.signal);
    const attempt: Attempt = {
      queue: consumer.queue,
      claim,
      work: toStoredWork(row),
      claimed: new Map(),
      abort,
      isExhausted: row.points >= fatalPoints || row.attempts - row.crashes > consumer.maxAttempts,
      past: {
        isFirst: claim.retryCount === 0 && positionOf(claim.id) > this.#firstPosition,
        isSuspect: row.points > 0 && row.points < fatalPoints,
        failures: row.attempts - row.crashes,
      },
      mayHaveOthers: row.hasOthers || joined.has(laneOf(row)) || joined.has(anyLane),
      listeners: new Set(),
      isEnded: false,
      isFenced: false,
      renewedAt: askedAt,
    };
    const mustWait = attempt.past.isSuspect && [...this.#attempts].some(({ past }) => past.isSuspect);
    for (const other of this.#attempts) if (other.claim.id === claim.id) this.#lose(other);
    this.#attempts.add(attempt);
    const running = new Promise<void>((resolve) => {
      Slot.hold(consumer.slots, consumer.signal, async (slot) => {
        const delivery = new LaneDelivery(node, attempt, slot);
        const { reached } = row;
        await this.#handlers.run(() => this.#run(delivery, attempt, consumer, { mustWait, reached }), laneOf(row));
        this.#attempts.delete(attempt);
        abort[Symbol.dispose]();
        resolve();
      });
    }).finally(() => consumer.running.delete(running));
    consumer.running.add(running);
  }

  async #run(
    delivery: LaneDelivery,
    attempt: Attempt,
    consumer: Consumer,
    { mustWait, reached }: { readonly mustWait: boolean; readonly reached: number | null },
  ): Promise<void> {
    if (attempt.isEnded) return;
    if (consumer.signal.aborted || mustWait)
      return await this.#insist(() => delivery.giveBack(mustWait ? suspectWaitMs : 0));
    let failure: unknown;
    try {
      // What another node has stored a moment ago, the last answer of the chat above all.
      if (attempt.queue === "inbound") await delivery.reach(reached ?? 0);
      await consumer.handler(delivery, attempt.abort.signal);
      if (attempt.isEnded) return;
      failure = new Error("the handler ended without commit, retry, release or bury");
    } catch (error) {
      failure = error;
    }
    await this.#settle(delivery, attempt, consumer, failure);
  }

  /** What happens to an attempt that its handler has not ended. */
  async #settle(delivery: LaneDelivery, attempt: Attempt, consumer: Consumer, error: unknown): Promise<void> {
    const { log } = this.#options;
    const {
      work,
      past: { failures },
    } = attempt;
    const about = { id: work.id, lane: work.key, attempt: work.attempts };
    if (attempt.isEnded) {
      if (!isError(error, "fenced")) log.error("a handler failed after its attempt had ended", { ...about, error });
      return;
    }
    const delayMs = backoffMs(failures, retry);
    if (consumer.signal.aborted) return await this.#insist(() => delivery.giveBack(0));
    if (isError(error, "persistence")) {
      log.warn("an attempt could not be stored: it runs again once the database takes writes", { ...about, error });
      return await this.#insist(() => delivery.giveBack(retry.firstMs));
    }
    if (!attempt.isExhausted) {
      log.error("a handler failed: it will run again", { ...about, delayMs, error });
      return await this.#insist(() => delivery.fail(delayMs));
    }
    log.error("a handler failed and all attempts are used up: buried", { ...about, error });
    const reason = messageOf(error);
    const failed = draft(
      "error_occurred",
      { code: "UNKNOWN", category: "runtime", message: reason, recoverable: false, scope: work.queue },
      { source: "gateway", correlation_id: work.id },
    );
    await this.#insist(() => delivery.bury({ events: [failed], emit: [], reason }));
  }

  /** Its claim ran out while it was under way. */
  #lose(attempt: Attempt): void {
    if (attempt.isEnded) return;
    const { id, key: lane } = attempt.work;
    const why = "this node could not renew its claim in time";
    this.#options.log.warn(`a piece of work is begun again: ${why}. Is the machine or the database too busy?`, {
      id,
      lane,
    });
    fence(attempt, why);
  }

  /** Ends an attempt, as soon as the database lets it. */
  async #insist(end: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await end();
        return;
      } catch (error) {
        if (isError(error, "fenced") || this.#isClosed) return;
        this.#options.log.debug("the end of an attempt could not be stored yet", { error });
        await settledWithin(new Promise(() => {}), { ms: this.#options.pollMs() });
      }
    }
  }

  /** Its session was deleted while it was claimed. */
  #dropJob(node: Node, queue: QueueName, claim: JobAttempt): void {
    void node.database
      .transaction((tx) => node.jobs.drop(tx, queue, [claim.id]))
      .catch((error: unknown) => this.#options.log.debug("the job of deleted work was not removed", { error }));
  }

  #tell(attempt: Attempt, work: StoredWork): void {
    for (const listener of [...attempt.listeners]) {
      try {
        listener(work);
      } catch (error) {
        const { sessionKey } = work;
        this.#options.log.error("a listener for accepted work failed", { session: sessionKey, error });
      }
    }
  }
}

function laneOf({ queue, key }: { readonly queue: QueueName; readonly key: string }): string {
  return `${queue} ${key}`;
}

function isError(error: unknown, kind: EngineError["kind"]): boolean {
  return error instanceof EngineError && error.kind === kind;
}
