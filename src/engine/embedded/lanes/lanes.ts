import PQueue from "p-queue";
import { EngineError, messageOf } from "../../../errors.js";
import { draft } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { backoffMs } from "../../../util/async/backoff.js";
import { linked } from "../../../util/async/linked.js";
import type { ConsumeOptions, Handler, QueueName } from "../../engine.js";
import { Slot } from "../../slot.js";
import { type Attempt, endAttempt } from "./attempt.js";
import { type DeliveryParts, LaneDelivery, waitFor } from "./delivery.js";
import { SuspectGate } from "./suspect-gate.js";
import { isCondemned, outlives } from "./suspects.js";
import { type Lane, laneId, toStored, type WorkItem } from "./work-table.js";

const retry = { firstMs: 500, longestMs: 30_000 };
const longestTimerMs = 2 ** 31 - 1;

interface Consumer {
  readonly queue: QueueName;
  /** Without end: infinite. */
  readonly maxAttempts: number;
  readonly handler: Handler<QueueName>;
  readonly signal: AbortSignal;
  readonly slots: PQueue;
  /** Handlers at work, those without a slot included. */
  readonly running: Set<Promise<void>>;
}

interface Offer {
  readonly consumer: Consumer;
  readonly lane: Lane;
  readonly item: WorkItem;
  /** No suspect was in work for a while. */
  readonly isQuiet: boolean;
}

interface LanesOptions extends Omit<DeliveryParts, "release"> {
  readonly log: Logger;
}

/** Hands out the heads of the lanes: each lane one at a time, the lanes side by side, in the order they became ready. */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #consumers = new Set<Consumer>();
  // By lane id: a lane that was empty for a moment is a new object.
  readonly #running = new Map<string, Attempt>();
  readonly #offered = new Map<string, { readonly consumer: Consumer; readonly item: WorkItem }>();
  readonly #suspects = new SuspectGate();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** How often in a row the disk refused what an attempt wanted to store. */
  readonly #refusals = new WeakMap<WorkItem, number>();
  /** For the present wait of each piece of work, its end by the monotonic clock. */
  readonly #waits = new WeakMap<WorkItem, { readonly notBefore: number; readonly until: number }>();

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  async consume(
    queue: QueueName,
    options: ConsumeOptions,
    handler: Handler<QueueName>,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const slots = new PQueue({ concurrency: options.parallel });
    const { maxAttempts = Number.POSITIVE_INFINITY } = options;
    const consumer: Consumer = { queue, maxAttempts, handler, signal, slots, running: new Set() };
    this.#consumers.add(consumer);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.resume(queue);
    });
    this.#consumers.delete(consumer);
    slots.clear();
    for (const [id, offered] of this.#offered) {
      if (offered.consumer !== consumer) continue;
      this.#offered.delete(id);
      this.#suspects.leave(offered.item);
    }
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
    this.#offered.set(lane.id, { consumer, item });
    const begin = (isQuiet: boolean): void =>
      Slot.hold(consumer.slots, consumer.signal, (slot) => {
        const running = this.#run({ consumer, lane, item, isQuiet }, slot).finally(() => {
          this.#suspects.leave(item);
          consumer.running.delete(running);
        });
        consumer.running.add(running);
        return running;
      });
    if (item.suspicion === undefined || isCondemned(item)) begin(false);
    else this.#suspects.enter(item, item.suspicion, begin);
  }

  /** Makes work available that a synced transaction brought. */
  makeAvailable(item: WorkItem): void {
    const { work } = this.#options.records;
    item.isDurable = true;
    if (!work.has(item)) return;
    this.#notifyAttempt(item);
    this.#offerAgain(item.work);
  }

  /** Ends the attempts whose work was deleted. */
  fenceDeleted(): void {
    for (const attempt of this.#running.values()) {
      if (!attempt.isEnded && !this.#options.records.work.has(attempt.item)) fence(attempt, "its session was deleted");
    }
    for (const [id, { item }] of this.#offered) {
      if (this.#options.records.work.has(item) || !this.#suspects.isWaiting(item)) continue;
      this.#offered.delete(id);
      this.#suspects.leave(item);
    }
  }

  /** Ends all attempts that are still running. */
  fenceAll(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#suspects.close();
    for (const attempt of this.#running.values()) if (!attempt.isEnded) fence(attempt, "the engine is closed");
  }

  /** The attempt that works in the lane of new work sees it first. */
  #notifyAttempt(item: WorkItem): void {
    const attempt = this.#running.get(laneId(item.work.queue, item.work.key));
    if (attempt === undefined) return;
    for (const listener of [...attempt.listeners]) {
      try {
        listener(toStored(item));
      } catch (error) {
        const { sessionKey } = item.work;
        this.#options.log.error("a listener for accepted work failed", { session: sessionKey, error });
      }
    }
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

  async #run({ consumer, lane, item, isQuiet }: Offer, slot: Slot): Promise<void> {
    this.#offered.delete(lane.id);
    if (consumer.signal.aborted || !this.#isReady(lane)) return;
    // Its session may have been deleted meanwhile.
    if (lane.items[0] !== item || this.#waitMs(item) > 0) return this.offer(lane);
    const target = { queue: lane.queue, id: item.work.id };
    const run = isQuiet ? { quiet: true } : {};
    try {
      this.#options.writer.write([{ o: "attempt", ...target, attempts: item.attempts + 1, run }]);
    } catch {
      return; // The journal has told why; the lane is looked at again once the disk takes writes.
    }
    this.#options.boundary("attempt:started", lane.queue);
    using abort = linked(consumer.signal);
    using _window = this.#watchWindow(item);
    const attempt: Attempt = {
      lane,
      item,
      claimed: new Set(),
      abort,
      slot,
      isFirst: item.past === "none",
      isExhausted: isCondemned(item) || failuresOf(item) > consumer.maxAttempts,
      onPause: () => this.#suspects.leave(item),
      listeners: new Set(),
      isEnded: false,
    };
    if (attempt.isFirst) item.past = "told";
    item.takenBy = attempt;
    this.#running.set(lane.id, attempt);
    const delivery = new LaneDelivery({ ...this.#options, release: (work) => this.#release(work) }, attempt);
    try {
      await consumer.handler(delivery, abort.signal);
      if (!attempt.isEnded)
        await this.#settle(attempt, consumer, new Error("the handler ended without commit, retry, release or bury"));
    } catch (error) {
      await this.#settle(attempt, consumer, error);
    }
    item.takenBy = undefined;
    this.#running.delete(lane.id);
    this.#offerAgain(lane);
  }

  /** A suspect whose run lasts is not held against it, and lets the next one into work. */
  #watchWindow(item: WorkItem): Disposable {
    const { suspicion } = item;
    const end = (): void => {
      try {
        const changes = outlives(item);
        if (changes.length > 0) this.#options.writer.write(changes);
      } catch (error) {
        this.#options.log.warn("the progress of a run could not be stored", { id: item.work.id, error });
      }
      this.#suspects.leave(item);
    };
    const timer = suspicion === undefined ? undefined : setTimeout(end, suspicion.windowMs).unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  }

  #offerAgain({ queue, key }: Pick<Lane, "queue" | "key">): void {
    const lane = this.#options.records.work.lane(queue, key);
    if (lane !== undefined) this.offer(lane);
  }

  /** What happens to an attempt that its handler has not ended. */
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
        const delayMs = backoffMs(failuresOf(item), retry);
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
    item.run = undefined;
    Object.assign(item, waitFor(backoffMs(refusals, retry), this.#options.now()));
    this.#options.log.warn("an attempt could not be stored: kept until the disk takes writes", {
      id: item.work.id,
      error,
    });
  }

  async #bury(attempt: Attempt, error: unknown): Promise<void> {
    const { work } = attempt.item;
    const reason = messageOf(error);
    const failed = draft(
      "error_occurred",
      { code: "UNKNOWN", category: "runtime", message: reason, recoverable: false, scope: work.queue },
      { source: "gateway", correlation_id: work.id },
    );
    const delivery = new LaneDelivery({ ...this.#options, release: (emitted) => this.#release(emitted) }, attempt);
    await delivery.bury({ events: [failed], emit: [], reason });
  }

  #release(work: readonly { readonly queue: QueueName; readonly id: string }[]): void {
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

/** Attempts that did not end with their process. */
function failuresOf({ attempts, crashes }: WorkItem): number {
  return attempts - crashes;
}

function load(consumer: Consumer): number {
  return (consumer.slots.size + consumer.slots.pending) / consumer.slots.concurrency;
}

function isEngineError(error: unknown, kind: EngineError["kind"]): boolean {
  return error instanceof EngineError && error.kind === kind;
}
