import PQueue from "p-queue";
import { EngineError, messageOf } from "../../errors.js";
import { draft } from "../../events/event.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/linked.js";
import type { ConsumeOptions, Handler, QueueName } from "../engine.js";
import { type Attempt, endAttempt } from "./attempt.js";
import { createDelivery, type DeliveryParts, waitFor } from "./delivery.js";
import { Place } from "./place.js";
import type { Lane, WorkItem } from "./work-table.js";

const firstDelayMs = 500;
const longestDelayMs = 30_000;
const longestTimerMs = 2 ** 31 - 1;

interface Consumer {
  readonly queue: QueueName;
  readonly maxAttempts: number;
  readonly handler: Handler<QueueName>;
  readonly signal: AbortSignal;
  readonly places: PQueue;
  readonly lastAttempts: PQueue;
  /** Handlers at work, those without a place included. */
  readonly running: Set<Promise<void>>;
}

interface LanesOptions extends Omit<DeliveryParts, "release"> {
  readonly log: Logger;
  /** How long a last attempt makes the others wait. */
  readonly aloneMs: number;
  /** Lanes became shorter. */
  readonly onShorter: () => void;
}

/** Hands out the heads of the lanes: each lane one at a time, the lanes side by side, in the order they became ready. */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #consumers = new Set<Consumer>();
  // By lane id: a lane that was empty for a moment is a new object.
  readonly #running = new Map<string, Attempt>();
  readonly #offered = new Map<string, Consumer>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** How often in a row the disk refused what an attempt wanted to store. */
  readonly #refusals = new WeakMap<WorkItem, number>();
  /** For the present wait of each piece of work, its end by the monotonic clock. */
  readonly #waits = new WeakMap<WorkItem, { readonly notBefore: number; readonly until: number }>();
  readonly #onAvailable: (item: WorkItem) => void;

  /** `onAvailable` hears of each piece of work before it is handed out. */
  constructor(options: LanesOptions, onAvailable: (item: WorkItem) => void) {
    this.#options = options;
    this.#onAvailable = onAvailable;
  }

  async consume(
    queue: QueueName,
    options: ConsumeOptions,
    handler: Handler<QueueName>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const places = new PQueue({ concurrency: options.parallel });
    const lastAttempts = new PQueue({ concurrency: 1 });
    const { maxAttempts } = options;
    const consumer: Consumer = { queue, maxAttempts, handler, signal, places, lastAttempts, running: new Set() };
    this.#consumers.add(consumer);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.resume(queue);
    });
    this.#consumers.delete(consumer);
    places.clear();
    lastAttempts.clear();
    for (const [id, offeredTo] of this.#offered) if (offeredTo === consumer) this.#offered.delete(id);
    this.resume(queue);
    await Promise.all(consumer.running);
    // A lane whose handler has just settled may be another consumer's now.
    this.resume(queue);
  }

  /** Looks at all lanes again: the disk takes writes, or consumers have changed. */
  resume(queue: QueueName): void {
    for (const lane of this.#options.records.work.lanes(queue)) this.offer(lane);
  }

  /** Hands out the lane's head if it may run. */
  offer(lane: Lane): void {
    clearTimeout(this.#timers.get(lane.id));
    this.#timers.delete(lane.id);
    const [item] = lane.items;
    if (item === undefined || !this.#isReady(lane)) return;
    const consumer = this.#leastBusy(lane.queue);
    if (consumer === undefined) return;
    const waitMs = this.#waitMs(item);
    if (waitMs > 0) {
      this.#timers.set(
        lane.id,
        setTimeout(() => this.#offerAgain(lane), Math.min(waitMs, longestTimerMs)),
      );
      return;
    }
    this.#offered.set(lane.id, consumer);
    const run = (): Promise<void> =>
      new Promise((resolve) => {
        Place.hold(consumer.places, consumer.signal, (place) => {
          const running = this.#run(consumer, lane, place).finally(() => {
            consumer.running.delete(running);
            resolve();
          });
          consumer.running.add(running);
          return running;
        });
      });
    // What ends the process takes the attempts of all that runs beside it: the last one is not shared.
    const isLast = item.attempts > 0 && item.attempts === consumer.maxAttempts - 1;
    if (isLast) void consumer.lastAttempts.add(() => settledWithin(run(), this.#options.aloneMs));
    else void run();
  }

  /** Makes work available that a synced transaction brought. */
  makeAvailable(item: WorkItem): void {
    const { work } = this.#options.records;
    item.isDurable = true;
    if (!work.has(item)) return;
    this.#onAvailable(item);
    this.#offerAgain(item.work);
  }

  /** Ends the attempts whose work was deleted. */
  fenceDeleted(): void {
    for (const attempt of this.#running.values()) {
      if (!attempt.isEnded && !this.#options.records.work.has(attempt.item)) fence(attempt, "its session was deleted");
    }
  }

  /** Ends all attempts that are still running. */
  fenceAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    for (const attempt of this.#running.values()) if (!attempt.isEnded) fence(attempt, "the engine is closed");
  }

  #isReady(lane: Lane): boolean {
    if (this.#running.has(lane.id) || this.#offered.has(lane.id) || this.#options.journal.refusal !== undefined)
      return false;
    return lane.items[0]?.isDurable === true;
  }

  /** Until the item's time, or until it has waited for as long as was asked, should the clock go back. */
  #waitMs(item: WorkItem | undefined): number {
    if (item === undefined || item.notBefore === 0) return 0;
    const { notBefore, delayMs = Number.POSITIVE_INFINITY } = item;
    const byClock = notBefore - this.#options.now();
    let wait = this.#waits.get(item);
    if (wait?.notBefore !== notBefore) {
      wait = { notBefore, until: performance.now() + Math.min(byClock, delayMs) };
      this.#waits.set(item, wait);
    }
    return Math.min(byClock, wait.until - performance.now());
  }

  #leastBusy(queue: QueueName): Consumer | undefined {
    let best: Consumer | undefined;
    for (const consumer of this.#consumers) {
      if (consumer.queue !== queue) continue;
      if (best === undefined || load(consumer) < load(best)) best = consumer;
    }
    return best;
  }

  async #run(consumer: Consumer, lane: Lane, place: Place): Promise<void> {
    this.#offered.delete(lane.id);
    const [item] = lane.items;
    if (item === undefined || consumer.signal.aborted || !this.#isReady(lane)) return;
    if (this.#waitMs(item) > 0) return this.offer(lane);
    const target = { queue: lane.queue, id: item.work.id };
    try {
      this.#options.writer.write([{ o: "attempt", ...target, attempts: item.attempts + 1 }]);
    } catch {
      return; // The journal has told why; the lane is looked at again once the disk takes writes.
    }
    this.#options.boundary("attempt:started", lane.queue);
    using abort = linked(consumer.signal);
    const attempt: Attempt = {
      lane,
      item,
      claimed: new Set(),
      abort,
      place,
      isExhausted: item.attempts > consumer.maxAttempts,
      isEnded: false,
    };
    item.takenBy = attempt;
    this.#running.set(lane.id, attempt);
    const delivery = createDelivery({ ...this.#options, release: (work) => this.#release(work) }, attempt);
    try {
      await consumer.handler(delivery, abort.signal);
      if (!attempt.isEnded)
        await this.#settle(attempt, consumer, new Error("the handler ended without commit, retry, release or bury"));
    } catch (error) {
      await this.#settle(attempt, consumer, error);
    }
    item.takenBy = undefined;
    this.#running.delete(lane.id);
    this.#options.onShorter();
    this.#offerAgain(lane);
  }

  #offerAgain({ queue, key }: Pick<Lane, "queue" | "key">): void {
    const lane = this.#options.records.work.lane(queue, key);
    if (lane !== undefined) this.offer(lane);
  }

  /** What becomes of an attempt that its handler has not ended. */
  async #settle(attempt: Attempt, consumer: Consumer, error: unknown): Promise<void> {
    const { log, writer, now } = this.#options;
    const { item } = attempt;
    const about = { id: item.work.id, lane: item.work.key, attempt: item.attempts };
    if (attempt.isEnded) {
      if (!isEngineError(error, "fenced"))
        log.error("a handler failed after its attempt had ended", { ...about, error });
      return;
    }
    const target = { queue: item.work.queue, id: item.work.id };
    try {
      if (consumer.signal.aborted) {
        writer.write([{ o: "attempt", ...target, attempts: item.attempts - 1 }]);
      } else if (isEngineError(error, "persistence")) {
        this.#keep(attempt, error);
      } else if (attempt.isExhausted) {
        log.error("a handler failed and all attempts are used up: buried", { ...about, error });
        await this.#bury(attempt, error);
      } else {
        const delayMs = backoffMs(item.attempts);
        log.error("a handler failed: it will run again", { ...about, delayMs, error });
        writer.write([{ o: "retry", ...target, ...waitFor(delayMs, now()), reason: messageOf(error) }]);
      }
    } catch (cause) {
      this.#keep(attempt, cause);
    }
    endAttempt(attempt);
  }

  /** The disk refused what the attempt wanted to store: it is not counted and runs again when there is room. */
  #keep(attempt: Attempt, error: unknown): void {
    const { item } = attempt;
    const refusals = (this.#refusals.get(item) ?? 0) + 1;
    this.#refusals.set(item, refusals);
    item.attempts = Math.max(0, item.attempts - 1);
    Object.assign(item, waitFor(backoffMs(refusals), this.#options.now()));
    this.#options.log.warn("an attempt could not be stored: kept until the disk takes writes", {
      id: item.work.id,
      error,
    });
  }

  async #bury(attempt: Attempt, error: unknown): Promise<void> {
    const { work } = attempt.item;
    const reason = messageOf(error);
    const told = draft(
      "error_occurred",
      { code: "UNKNOWN", category: "runtime", message: reason, recoverable: false, scope: work.queue },
      { source: "gateway", correlation_id: work.id },
    );
    const delivery = createDelivery({ ...this.#options, release: (emitted) => this.#release(emitted) }, attempt);
    await delivery.bury({ events: [told], emit: [], reason });
  }

  #release(work: readonly { readonly queue: QueueName; readonly id: string }[]): void {
    this.#options.onShorter();
    for (const { queue, id } of work) {
      const item = this.#options.records.work.item(queue, id);
      if (item !== undefined) this.makeAvailable(item);
    }
  }
}

function fence(attempt: Attempt, why: string): void {
  endAttempt(attempt);
  attempt.abort.abort(new EngineError(`The attempt was ended: ${why}`, { kind: "fenced" }));
}

/** Resolves when `done` does, or after a while. */
async function settledWithin(done: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms).unref();
  });
  await Promise.race([done, limit]);
  clearTimeout(timer);
}

function load(consumer: Consumer): number {
  return (consumer.places.size + consumer.places.pending) / consumer.places.concurrency;
}

function backoffMs(attempts: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, attempts - 1));
}

function isEngineError(error: unknown, kind: EngineError["kind"]): boolean {
  return error instanceof EngineError && error.kind === kind;
}
