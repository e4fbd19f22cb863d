import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type {
  AppendOptions,
  Commit,
  Delivery,
  DeliveryAppendOptions,
  QueueName,
  StoredWork,
  Work,
} from "../../engine.js";
import type { Journal } from "../journal/journal.js";
import type { Operation } from "../journal/operations.js";
import type { Writer, Written } from "../logs/writer.js";
import type { OnBoundary } from "../options.js";
import type { LiveRecords } from "../state.js";
import { type Attempt, assertCurrent, endAttempt } from "./attempt.js";
import { progressOf } from "./suspects.js";
import { toStored, type WorkItem } from "./work-table.js";

export interface DeliveryParts {
  readonly writer: Writer;
  readonly journal: Journal;
  readonly records: LiveRecords;
  readonly now: () => number;
  readonly boundary: OnBoundary;
  /** Work that a synced transaction brought may be handed out. */
  readonly release: (work: readonly Work[]) => void;
}

/** What a handler gets for one attempt. */
export class LaneDelivery implements Delivery<QueueName> {
  readonly #parts: DeliveryParts;
  readonly #attempt: Attempt;
  readonly #target: { readonly queue: QueueName; readonly id: string };
  readonly work: StoredWork;

  constructor(parts: DeliveryParts, attempt: Attempt) {
    const { work } = attempt.item;
    this.#parts = parts;
    this.#attempt = attempt;
    this.#target = { queue: work.queue, id: work.id };
    this.work = toStored(attempt.item);
  }

  get attempt(): number {
    return this.work.attempts;
  }

  get isFirst(): boolean {
    return this.#attempt.isFirst;
  }

  get exhausted(): boolean {
    return this.#attempt.isExhausted;
  }

  async append(events: readonly EventDraft[], options: DeliveryAppendOptions): Promise<readonly StoredEvent[]> {
    const { writer, journal, boundary, release } = this.#parts;
    const { sessionKey } = this.work;
    const { emit = [], counts } = options;
    assertCurrent(this.#attempt);
    const progress = progressOf(this.#attempt.item, events);
    if (emit.length === 0) return storeEvents(this.#parts, sessionKey, events, options, progress);
    const emitted = newWork(this.#parts, emit);
    const operations = [...toOperations(emitted, this.#parts), ...progress];
    const written = writer.writeEvents(sessionKey, events, operations, counts);
    boundary("append:after-write");
    await journal.sync();
    boundary("append:after-sync");
    await written.publish();
    release(emitted);
    return written.events();
  }

  publish(event: EventDraft): void {
    if (!this.#attempt.isEnded) this.#parts.writer.publish(this.work.sessionKey, event);
  }

  async waiting(): Promise<readonly StoredWork[]> {
    return this.#free().map(toStored);
  }

  onAccepted(listener: (work: StoredWork) => void): () => void {
    const { listeners } = this.#attempt;
    // Of its own, so that the same function can listen twice.
    const own = (work: StoredWork): void => listener(work);
    listeners.add(own);
    return () => listeners.delete(own);
  }

  async pause<T>(work: () => Promise<T>): Promise<T> {
    const { writer } = this.#parts;
    const { item, slot, onPause } = this.#attempt;
    assertCurrent(this.#attempt);
    writer.write([{ o: "attempt", ...this.#target, attempts: item.attempts - 1 }]);
    slot.leave();
    onPause();
    try {
      return await work();
    } finally {
      await slot.retake();
      if (!this.#attempt.isEnded)
        writer.write([{ o: "attempt", ...this.#target, attempts: item.attempts + 1, run: {} }]);
    }
  }

  async claim(ids: readonly string[]): Promise<readonly StoredWork[]> {
    this.#assertMayGoOn();
    const wanted = new Set(ids);
    const claimed: StoredWork[] = [];
    for (const each of this.#free()) {
      if (!wanted.has(each.work.id)) continue;
      each.takenBy = this.#attempt;
      this.#attempt.claimed.add(each);
      claimed.push(toStored(each));
    }
    return claimed;
  }

  commit(commit: Commit): Promise<readonly StoredEvent[]> {
    const done = [this.#attempt.item, ...this.#attempt.claimed];
    const acknowledged = done.map(({ work: { queue, id } }) => ({ o: "ack" as const, queue, id }));
    return this.#finish(commit, acknowledged, "commit");
  }

  async retry({ reason, delayMs, events = [] }: Parameters<Delivery["retry"]>[0]): Promise<void> {
    const { writer, now } = this.#parts;
    this.#assertMayGoOn();
    const retry = { o: "retry" as const, ...this.#target, ...waitFor(delayMs, now()), reason };
    const written = writer.writeEvents(this.work.sessionKey, events, [retry], [], { isReceipt: this.#isReceipt });
    endAttempt(this.#attempt);
    await written.publish();
  }

  async release(): Promise<void> {
    assertCurrent(this.#attempt);
    this.#parts.writer.write([{ o: "attempt", ...this.#target, attempts: this.#attempt.item.attempts - 1 }]);
    endAttempt(this.#attempt);
  }

  bury({ reason, ...commit }: Parameters<Delivery["bury"]>[0]): Promise<readonly StoredEvent[]> {
    return this.#finish(commit, [{ o: "bury", ...this.#target, reason, at: this.#parts.now() }], "bury");
  }

  /** Ends the attempt in one durable transaction. */
  async #finish(commit: Commit, ending: readonly Operation[], how: "commit" | "bury"): Promise<readonly StoredEvent[]> {
    const { writer, journal, boundary, release } = this.#parts;
    const { sessionKey, queue } = this.work;
    assertCurrent(this.#attempt);
    const emitted = newWork(this.#parts, commit.emit);
    boundary(`${how}:before-write`, queue);
    const operations = [...toOperations(emitted, this.#parts), ...ending];
    const options = { isReceipt: this.#isReceipt };
    const written = writer.writeEvents(sessionKey, commit.events, operations, commit.counts, options);
    endAttempt(this.#attempt);
    boundary(`${how}:after-write`, queue);
    await journal.sync();
    boundary(`${how}:after-sync`, queue);
    await written.publish();
    release(emitted);
    return written.events();
  }

  /** A message that is sent is sent: its end is written also when the disk is full for everything else. */
  get #isReceipt(): boolean {
    return this.work.queue === "outbound";
  }

  /** The lane's work that no attempt has. */
  #free(): readonly WorkItem[] {
    const { queue, key } = this.#attempt.lane;
    const items = this.#parts.records.work.lane(queue, key)?.items ?? [];
    return items.filter((each) => each.isDurable && each.takenBy === undefined);
  }

  #assertMayGoOn(): void {
    assertCurrent(this.#attempt);
    if (this.exhausted) throw new Error(`${this.work.id} is used up: it may only be buried`);
  }
}

/** A wait as it is written down: its end, and its length for a clock that goes back meanwhile. */
export function waitFor(delayMs: number, now: number): { readonly notBefore: number; readonly delayMs: number } {
  const atLeast = Math.max(0, delayMs);
  return { notBefore: now + atLeast, delayMs: atLeast };
}

/** The emitted work that is not known yet: a commit that is repeated after a crash emits nothing twice. */
function newWork({ records, now }: DeliveryParts, emit: readonly Work[]): readonly Work[] {
  return emit.filter((each) => !records.hasSeen(each, now()));
}

function toOperations(emitted: readonly Work[], { now }: DeliveryParts): readonly Operation[] {
  return emitted.map((work) => ({ o: "work", work, at: now() }));
}

/** Adds events to a session and resolves once they are as safe as was asked for, and published. */
export async function storeEvents(
  parts: { readonly writer: Writer; readonly journal: Journal; readonly boundary: OnBoundary },
  sessionKey: string,
  events: readonly EventDraft[],
  { durable, counts, afterSeq }: AppendOptions,
  others: readonly Operation[] = [],
): Promise<readonly StoredEvent[]> {
  const written: Written = parts.writer.writeEvents(sessionKey, events, others, counts, { afterSeq });
  parts.boundary("append:after-write");
  if (durable) await parts.journal.sync();
  await written.publish();
  return written.events();
}
