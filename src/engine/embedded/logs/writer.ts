import { EngineError } from "../../../errors.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import type { Count } from "../../engine.js";
import { toEvent } from "../../to-event.js";
import { totalsOf } from "../counts.js";
import type { Journal } from "../journal/journal.js";
import type { Operation } from "../journal/operations.js";
import type { LiveRecords } from "../state.js";
import { numberDrafts } from "./drafts.js";
import type { Publisher } from "./publisher.js";
import type { QuietFlush } from "./quiet-flush.js";
import type { SessionLogs } from "./session-logs.js";

export interface WriterParts {
  readonly journal: Journal;
  readonly records: LiveRecords;
  readonly logs: SessionLogs;
  readonly quiet: QuietFlush;
  readonly publisher: Publisher;
  readonly instanceId: string;
  readonly now: () => number;
  readonly log: Logger;
  /** Called after each transaction. */
  readonly onWritten: () => void;
}

/** A transaction that is in the file. */
export interface Written {
  /** Lets its events be published. To be called once they are as safe as was asked for. */
  readonly publish: () => Promise<void>;
  /** The stored events, one for each draft. */
  readonly events: () => Promise<readonly StoredEvent[]>;
}

/**
 * The single writer: what it is given becomes one line of the journal and then part of the live records, in one step
 * that nothing can interrupt. If the write fails, nothing has changed.
 */
export class Writer {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** `isReceipt`: as for the journal. @throws {EngineError} `persistence` */
  write(operations: readonly Operation[], isReceipt = false): void {
    const { journal, records } = this.#parts;
    const position = journal.write(operations, isReceipt);
    for (const operation of operations) records.apply(operation, { isDurable: false, bytes: 0, position });
    this.#parts.onWritten();
  }

  /**
   * Adds events to a session, together with other changes, and with counts if one of the events is new.
   *
   * @throws {EngineError} `persistence`
   */
  writeEvents(
    sessionKey: string,
    drafts: readonly EventDraft[],
    others: readonly Operation[] = [],
    counts: readonly Count[] = [],
    options: { readonly isReceipt?: boolean; readonly afterSeq?: number | undefined } = {},
  ): Written {
    const { journal, records, logs, quiet, publisher } = this.#parts;
    const { isReceipt = false, afterSeq = 0 } = options;
    const session = drafts.length === 0 ? undefined : logs.open(sessionKey);
    if (session === undefined) {
      if (others.length > 0) this.write(others, isReceipt);
      return { publish: async () => {}, events: async () => [] };
    }
    session.lastSeq = Math.max(session.lastSeq, afterSeq);
    const { now, instanceId, log } = this.#parts;
    const deletedSeq = records.sessions.tombstones.get(sessionKey)?.seq ?? 0;
    const { events, seqs, changed } = numberDrafts(logs, session, drafts, { now: now(), instanceId, deletedSeq });
    for (const { event_id: id, type } of changed)
      log.error(`${sessionKey}: a second event has the id ${id} and has other content; the first one stays`, {
        type,
      });
    const operations: Operation[] = [...events.map((event) => ({ o: "event" as const, event })), ...others];
    if (events.length > 0) operations.push(...totalsOf(records, counts));
    if (operations.length > 0) {
      const before = journal.segmentBytes;
      const position = journal.write(operations, isReceipt);
      const bytes = Math.ceil((journal.segmentBytes - before) / operations.length);
      for (const operation of operations) records.apply(operation, { isDurable: false, bytes, position });
    }
    const publish = publisher.enqueue(session, events);
    if (events.length > 0) quiet.touch(sessionKey);
    if (operations.length > 0) this.#parts.onWritten();
    return { publish, events: () => this.#collect(sessionKey, events, seqs) };
  }

  /** An event that is not stored, in its place among the session's stored ones. Resolves once it is out. */
  publish(sessionKey: string, draft: EventDraft): Promise<void> {
    const session = this.#parts.logs.open(sessionKey);
    session.lastTime = Math.max(session.lastTime, this.#parts.now());
    const event = toEvent(draft, {
      sessionKey,
      seq: null,
      afterSeq: session.lastSeq,
      time: session.lastTime,
      instanceId: this.#parts.instanceId,
    });
    return this.#parts.publisher.enqueue(session, [event])();
  }

  async #collect(
    sessionKey: string,
    events: readonly StoredEvent[],
    seqs: readonly number[],
  ): Promise<readonly StoredEvent[]> {
    if (events.length === seqs.length) return events;
    const bySeq = new Map(events.map((event) => [event.seq, event]));
    const collected: StoredEvent[] = [];
    for (const seq of seqs) {
      const event = bySeq.get(seq) ?? (await this.#read(sessionKey, seq));
      if (event !== undefined) collected.push(event);
    }
    return collected;
  }

  async #read(sessionKey: string, seq: number): Promise<StoredEvent> {
    const { logs } = this.#parts;
    const [event] = await logs.read(logs.open(sessionKey), seq - 1, 1);
    if (event?.seq === seq) return event;
    throw new EngineError(`Event ${seq} of ${sessionKey} was deleted meanwhile`, { kind: "fenced" });
  }
}
