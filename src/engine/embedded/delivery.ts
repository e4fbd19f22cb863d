import type { EventDraft, StoredEvent } from "../../events/event.js";
import type { Commit, Delivery, QueueName, StoredWork, Work } from "../engine.js";
import { type Attempt, assertCurrent, endAttempt } from "./attempt.js";
import type { Journal } from "./journal.js";
import type { Operation } from "./operations.js";
import type { LiveRecords } from "./state.js";
import { toStored } from "./work-table.js";
import type { Writer, Written } from "./writer.js";

export interface DeliveryParts {
  readonly writer: Writer;
  readonly journal: Journal;
  readonly records: LiveRecords;
  readonly now: () => number;
  readonly boundary: (name: string) => void;
  /** Work that a synced transaction brought may be handed out. */
  readonly release: (work: readonly Work[]) => void;
}

/** What a handler gets for one attempt. */
export function createDelivery(parts: DeliveryParts, attempt: Attempt): Delivery<QueueName> {
  const { writer, journal, records } = parts;
  const { item, lane, isExhausted } = attempt;
  const target = { queue: item.work.queue, id: item.work.id };
  const work = toStored(item);

  /** Ends the attempt in one durable transaction. */
  async function finish(
    commit: Commit,
    ending: readonly Operation[],
    onBoundary: (name: string) => void,
  ): Promise<readonly StoredEvent[]> {
    assertCurrent(attempt);
    const emitted = commit.emit.filter((each) => !records.hasSeen(each, parts.now()));
    onBoundary("before-write");
    const written = writer.writeEvents(item.work.sessionKey, commit.events, [
      ...emitted.map((each) => ({ o: "work" as const, work: each, at: parts.now() })),
      ...ending,
    ]);
    endAttempt(attempt);
    onBoundary("after-write");
    await journal.sync();
    onBoundary("after-sync");
    await written.publish();
    parts.release(emitted);
    return written.events();
  }

  return {
    work,
    attempt: work.attempts,
    exhausted: isExhausted,

    async append(events, { durable }) {
      assertCurrent(attempt);
      return storeEvents(parts, item.work.sessionKey, events, durable);
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
      return finish(commit, done, (name) => parts.boundary(`commit:${name}`));
    },

    async retry({ reason, delayMs, events = [] }) {
      assertCurrent(attempt);
      if (isExhausted) throw new Error(`${item.work.id} is used up: it may only be buried`);
      const notBefore = parts.now() + Math.max(0, delayMs);
      const written = writer.writeEvents(item.work.sessionKey, events, [{ o: "retry", ...target, notBefore, reason }]);
      endAttempt(attempt);
      await written.publish();
    },

    async release() {
      assertCurrent(attempt);
      writer.write([{ o: "attempt", ...target, attempts: item.attempts - 1 }]);
      endAttempt(attempt);
    },

    bury({ events, emit, reason }) {
      return finish({ events, emit }, [{ o: "bury", ...target, reason, at: parts.now() }], () => {});
    },
  };
}

/** Adds events to a session and resolves once they are as safe as was asked for, and published. */
export async function storeEvents(
  parts: { readonly writer: Writer; readonly journal: Journal; readonly boundary: (name: string) => void },
  sessionKey: string,
  events: readonly EventDraft[],
  durable: boolean,
): Promise<readonly StoredEvent[]> {
  const written: Written = parts.writer.writeEvents(sessionKey, events);
  parts.boundary("append:after-write");
  if (durable) await parts.journal.sync();
  await written.publish();
  return written.events();
}
