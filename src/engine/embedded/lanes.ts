import PQueue from "p-queue";
import { EngineError, messageOf } from "../../errors.js";
import { draft } from "../../events/event.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/linked.js";
import type { ConsumeOptions, Handler, QueueName } from "../engine.js";
import { type Attempt, endAttempt } from "./attempt.js";
import { createDelivery, type DeliveryParts } from "./delivery.js";
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
}

interface LanesOptions extends Omit<DeliveryParts, "release"> {
  readonly log: Logger;
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
    const consumer: Consumer = { queue, maxAttempts: options.maxAttempts, handler, signal, places };
    this.#consumers.add(consumer);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.resume(queue);
    });
    this.#consumers.delete(consumer);
    places.clear();
    for (const [id, offeredTo] of this.#offered) if (offeredTo === consumer) this.#offered.delete(id);
    this.resume(queue);
    await places.onIdle();
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
    if (!this.#isReady(lane)) return;
    const consumer = this.#leastBusy(lane.queue);
    if (consumer === undefined) return;
    const waitMs = (lane.items[0]?.notBefore ?? 0) - this.#options.now();
    if (waitMs > 0) {
      this.#timers.set(
        lane.id,
        setTimeout(() => this.#offerAgain(lane), Math.min(waitMs, longestTimerMs)),
      );
      return;
    }
    this.#offered.set(lane.id, consumer);
    void consumer.places.add(() => this.#run(consumer, lane));
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

  #leastBusy(queue: QueueName): Consumer | undefined {
    let best: Consumer | undefined;
    for (const consumer of this.#consumers) {
      if (consumer.queue !== queue) continue;
      if (best === undefined || load(consumer) < load(best)) best = consumer;
    }
    return best;
  }

  async #run(consumer: Consumer, lane: Lane): Promise<void> {
    this.#offered.delete(lane.id);
    const [item] = lane.items;
    if (item === undefined || consumer.signal.aborted || !this.#isReady(lane)) return;
    if (item.notBefore > this.#options.now()) return this.offer(lane);
    const target = { queue: lane.queue, id: item.work.id };
    try {
      this.#options.writer.write([{ o: "attempt", ...target, attempts: item.attempts + 1 }]);
    } catch {
      return; // The journal has told why; the lane is looked at again once the disk takes writes.
    }
    this.#options.boundary("attempt:started");
    using abort = linked(consumer.signal);
    const attempt: Attempt = {
      lane,
      item,
      claimed: new Set(),
      abort,
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
        writer.write([{ o: "retry", ...target, notBefore: now() + delayMs, reason: messageOf(error) }]);
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
    item.notBefore = this.#options.now() + backoffMs(refusals);
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

function load(consumer: Consumer): number {
  return (consumer.places.size + consumer.places.pending) / consumer.places.concurrency;
}

function backoffMs(attempts: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.max(0, attempts - 1));
}

function isEngineError(error: unknown, kind: EngineError["kind"]): boolean {
  return error instanceof EngineError && error.kind === kind;
}
