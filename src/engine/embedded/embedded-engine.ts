import { messageOf } from "../../errors.js";
import type { EventDraft, StoredEvent } from "../../events/event.js";
import type { Logger } from "../../log.js";
import type {
  Acceptance,
  AcceptOptions,
  AppendOptions,
  ConsumeOptions,
  Cursor,
  Engine,
  EngineMeasures,
  EngineStatus,
  Handler,
  Lease,
  LedgerEntry,
  LongLane,
  QueueName,
  Records,
  StoredWork,
  Work,
} from "../engine.js";
import { closedError, EngineLife } from "../engine-life.js";
import type { HeldFiles } from "../held-files.js";
import type { ThinReport, ThinSpan } from "../left-out.js";
import { damageKind } from "../log-damage.js";
import { DeadLetters, FactRecords } from "./facts.js";
import { readLedgerOf } from "./inspect/ledger.js";
import type { Operation } from "./journal/operations.js";
import { Accepting } from "./lanes/accepting.js";
import { storeEvents } from "./lanes/delivery.js";
import { findLongLanes } from "./lanes/lane-room.js";
import { toStored } from "./lanes/work-table.js";
import { DeletedLogs } from "./logs/deleted-logs.js";
import type { Parts } from "./parts.js";
import { noteStop } from "./run-note.js";
import type { Store } from "./state.js";

interface EmbeddedEngineFacts {
  readonly home: string;
  /** See {@link Engine.nodeId}. */
  readonly instanceId: string;
  readonly sessionLogs?: (() => readonly string[]) | undefined;
  readonly log: Logger;
}

/** The engine that lives in one process and its files, and what only an engine of files can be asked for. */
export class EmbeddedEngine implements Engine {
  readonly #parts: Parts;
  readonly #facts: EmbeddedEngineFacts;
  readonly #accepting: Accepting;
  readonly #deletedLogs: DeletedLogs;
  readonly #views = new Map<string, Records>();
  readonly #life = new EngineLife();
  #closed: Promise<void> | undefined;
  readonly records: Engine["records"];
  readonly dead: Engine["dead"];

  constructor(parts: Parts, facts: EmbeddedEngineFacts) {
    const store: Store = (operations, isReceipt) => this.#store(operations, isReceipt);
    this.#parts = parts;
    this.#facts = facts;
    this.#accepting = new Accepting(parts);
    this.#deletedLogs = new DeletedLogs(parts, facts.log);
    this.#deletedLogs.removeAll();
    this.records = { open: async (kind) => this.#viewOf(kind, store) };
    this.dead = new DeadLetters(parts, store);
  }

  get nodeId(): string {
    return this.#facts.instanceId;
  }

  async accept<Q extends QueueName>(work: Work<Q>, options: AcceptOptions): Promise<Acceptance> {
    this.#life.assertRunning();
    return await this.#accepting.accept(work, options, () => this.#life.assertRunning());
  }

  async refuse(work: Work<"inbound">, cursor?: Cursor): Promise<boolean> {
    this.#life.assertOpen();
    return await this.#accepting.refuse(work, cursor);
  }

  async consume<Q extends QueueName>(
    queue: Q,
    options: ConsumeOptions,
    handler: Handler<Q>,
    signal: AbortSignal,
  ): Promise<void> {
    // The queue decides what the handler gets, which a plain union does not show to the compiler.
    const all = handler as Handler<QueueName>;
    await this.#life.consume((ended) => this.#parts.lanes.consume(queue, options, all, ended), signal);
  }

  async append(
    sessionKey: string,
    events: readonly EventDraft[],
    options: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    this.#life.assertOpen();
    return await storeEvents(this.#parts, sessionKey, events, options);
  }

  async announce(sessionKey: string, event: EventDraft): Promise<void> {
    this.#life.assertOpen();
    await this.#parts.writer.publish(sessionKey, event);
  }

  async events(
    sessionKey: string,
    { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }> {
    this.#life.assertOpen();
    const { logs } = this.#parts;
    const session = logs.open(sessionKey);
    const { lastSeq } = session;
    const events = await logs.read(session, afterSeq, limit);
    const reached = events.at(-1)?.seq ?? afterSeq;
    return { events, hasMore: events.length === limit && reached < lastSeq };
  }

  async lastSequence(sessionKey: string): Promise<number> {
    this.#life.assertOpen();
    return this.#parts.logs.open(sessionKey).lastSeq;
  }

  async waiting<Q extends QueueName>(queue: Q, key: string): Promise<readonly StoredWork<Q>[]> {
    const items = this.#parts.records.work.lane(queue, key)?.items ?? [];
    // The queue decides the kind of body, which a plain union does not show to the compiler.
    return items.filter((item) => item.isDurable).map((item) => toStored(item) as StoredWork<Q>);
  }

  async longLanes(least: number): Promise<readonly LongLane[]> {
    return findLongLanes(this.#parts.records.work, least);
  }

  async deleteSession(sessionKey: string): Promise<void> {
    this.#life.assertOpen();
    const { logs, records, writer, lanes, journal, maintenance } = this.#parts;
    const { lastSeq, lastTime } = logs.open(sessionKey);
    const isEmpty = lastSeq === (records.sessions.tombstones.get(sessionKey)?.seq ?? 0);
    if (isEmpty && !records.work.hasWorkOf(sessionKey)) return;
    writer.write([
      { o: "tombstone", key: sessionKey, seq: lastSeq, timestamp: lastTime },
      { o: "remove", kind: damageKind, id: sessionKey },
    ]);
    lanes.fenceDeleted();
    maintenance.forgetSoon();
    await journal.sync();
    this.#deletedLogs.remove(sessionKey);
  }

  async cursor(name: string): Promise<string | undefined> {
    return this.#parts.records.cursors.get(name);
  }

  async lease(name: string, signal: AbortSignal): Promise<Lease> {
    this.#life.assertRunning();
    return await this.#parts.leases.take(name, signal);
  }

  async ledger(): Promise<readonly LedgerEntry[]> {
    const { home, sessionLogs = () => [], log } = this.#facts;
    return await readLedgerOf(home, sessionLogs, log);
  }

  status(): EngineStatus {
    const { journal, records } = this.#parts;
    const reason = journal.refusal;
    return {
      writable: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      inboundWaiting: records.work.count("inbound"),
      outboundWaiting: records.work.count("outbound"),
      deadLetters: records.work.dead.size,
      syncs: journal.syncs,
      problems: [...records.seen.problems.values()],
    };
  }

  measures(): EngineMeasures {
    const { journal, records } = this.#parts;
    return { oldest: records.work.oldest(), syncSeconds: journal.syncSeconds };
  }

  /**
   * Sessions whose newest events the journal still holds: what a crash may have left without its document is among
   * them. After an orderly stop there are none.
   */
  recentSessions(): readonly string[] {
    return [...this.#parts.records.sessions.all()].filter(({ lastSeq }) => lastSeq > 0).map(({ key }) => key);
  }

  /** Writes what is in memory to the session logs and syncs everything. Disposing does this too. */
  async flush(): Promise<void> {
    this.#life.assertOpen();
    await this.#parts.maintenance.flush();
  }

  /**
   * Leaves the details of turns that ended before a moment out of the session logs that were written since another one. What an open
   * turn needs stays, and so do messages, tools and costs.
   */
  async thinLogs(span: ThinSpan, signal: AbortSignal): Promise<ThinReport> {
    this.#life.assertOpen();
    return await this.#parts.maintenance.thin(this.#facts.sessionLogs?.() ?? [], span, signal);
  }

  /**
   * Brings the files up to date and keeps them still, while messages go on being accepted and answered. One holder at a
   * time; the next one waits.
   */
  async holdFiles(): Promise<HeldFiles> {
    this.#life.assertOpen();
    const held = await this.#parts.maintenance.hold();
    const removeLogs = (): void => this.#deletedLogs.removeAll();
    return {
      ...held,
      async [Symbol.asyncDispose]() {
        await held[Symbol.asyncDispose]();
        removeLogs();
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { journal, admission, lanes, quiet, maintenance, leases, records } = this.#parts;
    this.#life.beginClosing();
    journal.end();
    admission.close(closedError());
    leases.close(closedError());
    const hasSettled = await this.#life.settle();
    lanes.fenceAll();
    quiet.stop();
    maintenance.stopHolding();
    try {
      if (hasSettled) noteStop(this.#parts);
      await maintenance.compact();
    } catch (error) {
      this.#facts.log.warn("closing could not move everything into the session logs; it stays in the journal", {
        error: messageOf(error),
      });
    }
    await journal.close();
    records.seen.close();
  }

  async #store(operations: readonly Operation[], isReceipt = false): Promise<void> {
    this.#life.assertOpen();
    this.#parts.writer.write(operations, isReceipt);
    await this.#parts.journal.sync();
  }

  #viewOf(kind: string, store: Store): Records {
    const known = this.#views.get(kind);
    if (known !== undefined) return known;
    const view = new FactRecords(this.#parts, kind, store);
    this.#views.set(kind, view);
    return view;
  }
}
