import type { EventDraft, StoredEvent } from "../../events/event.js";
import { settledWithin } from "../../util/async/within.js";
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
  StoredWork,
  Work,
} from "../engine.js";
import { closedError, EngineLife } from "../engine-life.js";
import type { ThinReport, ThinSpan } from "../left-out.js";
import { readLedger } from "./events/ledger.js";
import { thinSessions } from "./events/thin.js";
import type { Accepting } from "./lanes/accepting.js";
import { DeadLetters } from "./lanes/dead-letters.js";
import { announce, append, giveBack } from "./lanes/delivery.js";
import type { Lanes } from "./lanes/lanes.js";
import { findLongLanes } from "./lanes/long-lanes.js";
import { toStoredWork } from "./lanes/work-table.js";
import type { Leases } from "./leases.js";
import type { Node } from "./node.js";

/** For a database that does not answer. */
const farewellMs = 3000;

export interface EngineFacts {
  readonly clusterId: string;
  readonly nodeId: string;
  readonly accepting: Accepting;
  readonly leases: Leases;
  readonly lanes: Lanes;
  /** Ends what the node does by itself. */
  readonly stop: () => Promise<void>;
}

/** The engine of one node of many that share a database. */
export class PostgresEngine implements Engine {
  readonly #node: Node;
  readonly #facts: EngineFacts;
  readonly #life = new EngineLife();
  #closed: Promise<void> | undefined;
  readonly records: Engine["records"];
  readonly dead: Engine["dead"];

  constructor(node: Node, facts: EngineFacts) {
    this.#node = node;
    this.#facts = facts;
    this.dead = new DeadLetters(node);
    this.records = { open: async (kind) => await this.#opened().records.open(kind) };
  }

  get nodeId(): string {
    return this.#facts.nodeId;
  }

  /** Names what the schema belongs to: the same for all nodes, and for as long as the schema exists. */
  get clusterId(): string {
    return this.#facts.clusterId;
  }

  async accept<Q extends QueueName>(work: Work<Q>, options: AcceptOptions): Promise<Acceptance> {
    this.#life.assertRunning();
    return await this.#facts.accepting.accept(work, options, () => this.#life.assertRunning());
  }

  async refuse(work: Work<"inbound">, cursor?: Cursor): Promise<boolean> {
    this.#opened();
    return await this.#facts.accepting.refuse(work, cursor);
  }

  async consume<Q extends QueueName>(
    queue: Q,
    options: ConsumeOptions,
    handler: Handler<Q>,
    signal: AbortSignal,
  ): Promise<void> {
    // The queue decides what the handler gets, which a plain union does not show to the compiler.
    const all = handler as Handler<QueueName>;
    await this.#life.consume((ended) => this.#facts.lanes.consume(this.#node, queue, options, all, ended), signal);
  }

  async append(
    sessionKey: string,
    events: readonly EventDraft[],
    options: AppendOptions,
  ): Promise<readonly StoredEvent[]> {
    return await append(this.#opened(), sessionKey, events, options);
  }

  async announce(sessionKey: string, event: EventDraft): Promise<void> {
    await announce(this.#opened(), sessionKey, event);
  }

  async events(
    sessionKey: string,
    range: { readonly afterSeq: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }> {
    const { events, database } = this.#opened();
    return await events.read(database, sessionKey, range);
  }

  async lastSequence(sessionKey: string): Promise<number> {
    const { events, database } = this.#opened();
    return await events.lastSequence(database, sessionKey);
  }

  async waiting<Q extends QueueName>(queue: Q, key: string): Promise<readonly StoredWork<Q>[]> {
    const { work, database } = this.#opened();
    // The queue decides the kind of body, which a plain union does not show to the compiler.
    return (await work.lane(database, queue, key)).map((row) => toStoredWork(row) as StoredWork<Q>);
  }

  async longLanes(least: number): Promise<readonly LongLane[]> {
    return await findLongLanes(this.#opened().database, least);
  }

  async deleteSession(sessionKey: string): Promise<void> {
    const { database, work, counts, feed, others } = this.#opened();
    const { lanes } = this.#facts;
    const change = counts.begin();
    let gone: Readonly<Record<string, number>> = {};
    let next = Number.POSITIVE_INFINITY;
    try {
      gone = await feed.inOrder(sessionKey, async () => {
        const deletion = await database.transaction(async (tx) => {
          // From here on nothing is accepted for it until the end of the transaction.
          const [session] = await tx.query<{ seq: number }>(
            "UPDATE @sessions SET deleted = seq, xid = pg_current_xact_id() WHERE key = $1 RETURNING seq::float8",
            [sessionKey],
          );
          const [place] = await tx.query<{ next: number }>("SELECT nextval('@positions')::float8 AS next");
          await tx.query("DELETE FROM @events WHERE session = $1", [sessionKey]);
          const removed = await work.removeSession(tx, sessionKey);
          const dead = await tx.query("DELETE FROM @dead WHERE session = $1 RETURNING 1", [sessionKey]);
          return { gone: { ...removed, dead: -dead.length }, seq: session?.seq ?? 0, next: place?.next };
        });
        feed.deleted(sessionKey, deletion.seq);
        next = deletion.next ?? next;
        others.tell({ d: sessionKey, b: next });
        return deletion.gone;
      });
    } finally {
      change.end(gone);
    }
    lanes.fenceSession(sessionKey, next);
  }

  async cursor(name: string): Promise<string | undefined> {
    const [row] = await this.#opened().database.query<{ value: string }>("SELECT value FROM @cursors WHERE name = $1", [
      name,
    ]);
    return row?.value;
  }

  async lease(name: string, signal: AbortSignal): Promise<Lease> {
    this.#life.assertRunning();
    return await this.#facts.leases.take(name, signal);
  }

  /** Every session that has events, and up to where they reach. */
  async lastSequences(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#opened().database.query<{ key: string; seq: number }>(
      "SELECT key, seq::float8 FROM @sessions WHERE seq > deleted",
    );
    return new Map(rows.map(({ key, seq }) => [key, seq]));
  }

  /** See `events.detailDays`. Only one node may do it at a time. */
  async thinLogs(span: ThinSpan, signal: AbortSignal): Promise<ThinReport> {
    return await thinSessions(this.#opened(), span, signal);
  }

  async ledger(): Promise<readonly LedgerEntry[]> {
    return await readLedger(this.#opened().database);
  }

  status(): EngineStatus {
    const { database, counts } = this.#node;
    const { inbound, outbound, dead } = counts.current;
    return {
      writable: database.refusal === undefined,
      ...(database.refusal === undefined ? {} : { reason: database.refusal }),
      inboundWaiting: inbound,
      outboundWaiting: outbound,
      deadLetters: dead,
      syncs: database.commits,
    };
  }

  measures(): EngineMeasures {
    const { database, counts } = this.#node;
    return { oldest: counts.current.oldest, syncSeconds: database.commitSeconds.read() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { accepting, leases, lanes, stop } = this.#facts;
    const { feed, database } = this.#node;
    this.#life.beginClosing();
    accepting.close(closedError());
    const left = leases.close(closedError());
    await this.#life.settle();
    const held = lanes.held();
    lanes.fenceAll();
    await settledWithin(Promise.all([left, this.#giveBack(held)]), { ms: farewellMs });
    await stop();
    await settledWithin(feed.settled(), { ms: farewellMs });
    await settledWithin(database.query("DELETE FROM @nodes WHERE id = $1", [this.nodeId]), { ms: farewellMs });
    await settledWithin(database.close(), { ms: farewellMs });
  }

  /** What handlers have not ended in time was not ended by a crash: another node goes on with it at once. */
  async #giveBack(held: ReturnType<Lanes["held"]>): Promise<void> {
    for (const attempt of held) await giveBack(this.#node, attempt, 0).catch(() => undefined);
  }

  #opened(): Node {
    this.#life.assertOpen();
    return this.#node;
  }
}
