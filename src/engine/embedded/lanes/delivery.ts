import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { AppendOptions, Commit, Delivery, QueueName, StoredWork, Work } from "../../engine.js";
import type { Journal } from "../journal/journal.js";
import type { Operation } from "../journal/operations.js";
import type { Writer, Written } from "../logs/writer.js";
import type { OnBoundary } from "../options.js";
import type { LiveRecords } from "../state.js";
import { type Attempt, assertCurrent, endAttempt } from "./attempt.js";
import { progressOf } from "./suspects.js";
import { toStored } from "./work-table.js";

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
export function createDelivery(parts: DeliveryParts, attempt: Attempt): Delivery<QueueName> {
  const { writer, journal, records, boundary } = parts;
  const { item, lane, place, isExhausted } = attempt;
  const target = { queue: item.work.queue, id: item.work.id };
  const work = toStored(item);
  // A message that is sent is sent: its end is written also when the disk is full for everything else.
  const isReceipt = work.queue === "outbound";

  /** Ends the attempt in one durable transaction. */
  async function finish(
    commit: Commit,
    ending: readonly Operation[],
    how: "commit" | "bury",
  ): Promise<readonly StoredEvent[]> {
    assertCurrent(attempt);
    const emitted = newWork(parts, commit.emit);
    boundary(`${how}:before-write`, work.queue);
    const operations = [...toOperations(emitted, parts), ...ending];
    const written = writer.writeEvents(item.work.sessionKey, commit.events, operations, commit.counts, { isReceipt });
    endAttempt(attempt);
    boundary(`${how}:after-write`, work.queue);
    await journal.sync();
    boundary(`${how}:after-sync`, work.queue);
    await written.publish();
    parts.release(emitted);
    return written.events();
  }

  return {
    work,
    attempt: work.attempts,
    exhausted: isExhausted,

    async append(events, options) {
      const { emit = [], counts } = options;
      assertCurrent(attempt);
      const progress = progressOf(item, events);
      if (emit.length === 0) return storeEvents(parts, item.work.sessionKey, events, options, progress);
      const emitted = newWork(parts, emit);
      const operations = [...toOperations(emitted, parts), ...progress];
      const written = writer.writeEvents(item.work.sessionKey, events, operations, counts);
      parts.boundary("append:after-write");
      await journal.sync();
      parts.boundary("append:after-sync");
      await written.publish();
      parts.release(emitted);
      return written.events();
    },

    async pause(work) {
      assertCurrent(attempt);
      writer.write([{ o: "attempt", ...target, attempts: item.attempts - 1 }]);
      place.leave();
      attempt.onPause();
      try {
        return await work();
      } finally {
        await place.retake();
        if (!attempt.isEnded) writer.write([{ o: "attempt", ...target, attempts: item.attempts + 1, run: {} }]);
      }
    },

    async claim(ids) {
      assertCurrent(attempt);
      if (isExhausted) throw new Error(`${item.work.id} is used up: it may only be buried`);
      const wanted = new Set(ids);
      const claimed: StoredWork[] = [];
      for (const each of records.work.lane(lane.queue, lane.key)?.items ?? []) {
        if (!wanted.has(each.work.id) || !each.isDurable || each.takenBy !== undefined) continue;
        each.takenBy = attempt;
        attempt.claimed.add(each);
        claimed.push(toStored(each));
      }
      return claimed;
    },

    commit(commit) {
      const done = [item, ...attempt.claimed].map(({ work: { queue, id } }) => ({ o: "ack" as const, queue, id }));
      return finish(commit, done, "commit");
    },

    async retry({ reason, delayMs, events = [] }) {
      assertCurrent(attempt);
      if (isExhausted) throw new Error(`${item.work.id} is used up: it may only be buried`);
      const retry = { o: "retry" as const, ...target, ...waitFor(delayMs, parts.now()), reason };
      const written = writer.writeEvents(item.work.sessionKey, events, [retry], [], { isReceipt });
      endAttempt(attempt);
      await written.publish();
    },

    async release() {
      assertCurrent(attempt);
      writer.write([{ o: "attempt", ...target, attempts: item.attempts - 1 }]);
      endAttempt(attempt);
    },

    bury({ reason, ...commit }) {
      return finish(commit, [{ o: "bury", ...target, reason, at: parts.now() }], "bury");
    },
  };
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
