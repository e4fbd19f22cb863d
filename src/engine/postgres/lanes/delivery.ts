import { EngineError } from "../../../errors.js";
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
import type { Slot } from "../../slot.js";
import type { AddedRow } from "../events/event-table.js";
import type { Node } from "../node.js";
import type { RecordRow } from "../records.js";
import type { CarefulSql, Transaction } from "../sql/database.js";
import { Statement } from "../sql/statement.js";
import { type Attempt, assertCurrent, endAttempt, fence } from "./attempt.js";
import { addedOf, type Change, toStoredWork, type WorkResult } from "./work-table.js";

type Result = AddedRow & WorkResult & { readonly counted?: readonly RecordRow[] | null };

interface Storing extends Partial<Commit> {
  readonly afterSeq?: number | undefined;
  /** What else the statement does, behind the events and before the rest. */
  readonly also?: (statement: Statement) => void;
  /** What is done after it in one transaction with it. */
  readonly next?: (tx: Transaction) => Promise<void>;
  /** Called once it is stored, before anybody sees it. Gives what has changed beside the new work. */
  readonly stored?: (result: Result) => Change;
}

/** What a handler gets for one attempt. */
export class LaneDelivery implements Delivery<QueueName> {
  readonly #node: Node;
  readonly #attempt: Attempt;
  readonly #slot: Slot;

  constructor(node: Node, attempt: Attempt, slot: Slot) {
    this.#node = node;
    this.#attempt = attempt;
    this.#slot = slot;
  }

  get work(): StoredWork {
    return this.#attempt.work;
  }

  get attempt(): number {
    return this.work.attempts;
  }

  get isFirst(): boolean {
    return this.#attempt.past.isFirst;
  }

  get exhausted(): boolean {
    return this.#attempt.isExhausted;
  }

  /** Resolves once this node has seen its session up to this number. */
  async reach(seq: number): Promise<void> {
    await this.#node.feed.reach(this.work.sessionKey, seq);
  }

  async append(events: readonly EventDraft[], options: DeliveryAppendOptions): Promise<readonly StoredEvent[]> {
    const { jobs } = this.#node;
    const { queue, claim } = this.#attempt;
    const { emit = [], counts, afterSeq } = options;
    assertCurrent(this.#attempt);
    const stored = await this.#store({
      ...{ events, emit, counts, afterSeq },
      also: (statement) => jobs.requireHeld(statement, queue, claim),
      stored: () => wasAppended(this.#node),
    });
    if (emit.length > 0) this.#node.boundary("append:after-sync");
    // What is done next, such as a send, cannot be taken back: another node may do it, if this one stood still.
    this.#node.lanes.lapse();
    assertCurrent(this.#attempt);
    return stored;
  }

  publish(event: EventDraft): void {
    const { isEnded, work } = this.#attempt;
    if (!isEnded) void announce(this.#node, work.sessionKey, event).catch((error) => this.#notPublished(error));
  }

  async waiting(): Promise<readonly StoredWork[]> {
    return (await this.#free()).map(toStoredWork);
  }

  onAccepted(listener: (work: StoredWork) => void): () => void {
    const { listeners } = this.#attempt;
    // Of its own, so that the same function can listen twice.
    const own = (work: StoredWork): void => listener(work);
    listeners.add(own);
    return () => listeners.delete(own);
  }

  async pause<T>(work: () => Promise<T>): Promise<T> {
    const { database, work: table } = this.#node;
    const { claim } = this.#attempt;
    assertCurrent(this.#attempt);
    await table.count(database, claim.id, -1, false);
    this.#slot.leave();
    try {
      return await work();
    } finally {
      await this.#slot.retake();
      if (!this.#attempt.isEnded) await table.count(database, claim.id, 1, true);
    }
  }

  async claim(ids: readonly string[]): Promise<readonly StoredWork[]> {
    this.#assertMayGoOn();
    const wanted = new Set(ids);
    const free = (await this.#free()).filter(({ id }) => wanted.has(id));
    assertCurrent(this.#attempt);
    const { claimed } = this.#attempt;
    // Two calls may have looked at the same time.
    const taken = free.filter(({ id }) => !claimed.has(id));
    for (const { id, job } of taken) claimed.set(id, job);
    return taken.map(toStoredWork);
  }

  async commit(commit: Commit): Promise<readonly StoredEvent[]> {
    return await this.#finish(commit, "commit", [...this.#attempt.claimed.values()]);
  }

  async retry({ reason, delayMs, events = [] }: Parameters<Delivery["retry"]>[0]): Promise<void> {
    this.#assertMayGoOn();
    this.#node.log.debug("an attempt will be repeated", { id: this.work.id, reason, delayMs });
    await this.#end({ delayMs: Math.max(0, delayMs), isCounted: true }, events);
  }

  async release(): Promise<void> {
    assertCurrent(this.#attempt);
    await this.#end({ delayMs: 0, isCounted: false }, []);
  }

  async bury({ reason, ...commit }: Parameters<Delivery["bury"]>[0]): Promise<readonly StoredEvent[]> {
    const { now } = this.#node;
    return await this.#finish(commit, "bury", [], (statement) =>
      this.#node.work.buryBy(statement, this.#attempt.claim.id, { reason, at: now() }),
    );
  }

  /** Gives the work back without counting the attempt, to run again after a while. */
  async giveBack(delayMs: number): Promise<void> {
    await this.#end({ delayMs, isCounted: false }, []);
  }

  /** The attempt has failed by itself. */
  async fail(delayMs: number): Promise<void> {
    await this.#end({ delayMs, isCounted: true }, []);
  }

  /** Ends the attempt, and takes the work out of its lane. */
  async #finish(
    commit: Commit,
    how: "commit" | "bury",
    claimed: readonly string[],
    also: (statement: Statement) => void = () => {},
  ): Promise<readonly StoredEvent[]> {
    const { jobs, work: table, lanes, boundary } = this.#node;
    const { queue, claim, work } = this.#attempt;
    assertCurrent(this.#attempt);
    boundary(`${how}:before-write`, queue);
    const events = await this.#storeAndEnd({
      ...commit,
      also(statement) {
        jobs.requireHeld(statement, queue, claim, { claimed });
        also(statement);
        table.removeBy(statement, work, [claim.id, ...claimed]);
      },
      stored({ gone = 0, hasNext }) {
        boundary(`${how}:after-write`, queue);
        if (hasNext === true) lanes.wakeAfter(queue, 0);
        return { [queue]: -gone, ...(how === "bury" ? { dead: 1 } : {}) };
      },
    });
    boundary(`${how}:after-sync`, queue);
    return events;
  }

  async #end(
    how: { readonly delayMs: number; readonly isCounted: boolean },
    events: readonly EventDraft[],
  ): Promise<void> {
    const { jobs, work: table, lanes } = this.#node;
    const { queue, claim } = this.#attempt;
    await this.#storeAndEnd({
      events,
      async next(tx) {
        await jobs.giveBack(tx, queue, claim, how.delayMs);
        await table.end(tx, claim.id, how);
      },
    });
    lanes.wakeAfter(queue, how.delayMs);
  }

  /** From here on nothing else of this attempt is stored, unless this cannot be. */
  async #storeAndEnd(storing: Storing): Promise<readonly StoredEvent[]> {
    const attempt = this.#attempt;
    const { claimed } = attempt;
    const kept = new Map(claimed);
    attempt.isEnded = true;
    try {
      const events = await this.#store(storing);
      endAttempt(attempt);
      return events;
    } catch (error) {
      // Nothing was stored, so it may try something else; if it was all the same, the next try is fenced.
      attempt.isEnded = attempt.isFenced || isFenced(error);
      for (const [id, job] of kept) claimed.set(id, job);
      throw error;
    }
  }

  async #store(storing: Storing): Promise<readonly StoredEvent[]> {
    try {
      return await store(this.#node, this.work.sessionKey, storing);
    } catch (error) {
      if (isFenced(error)) fence(this.#attempt, "another one has its work, or it is done");
      throw error;
    }
  }

  /** The lane's other work. */
  async #free() {
    const { database, work: table, others } = this.#node;
    assertCurrent(this.#attempt);
    const { claim, claimed, queue, mayHaveOthers } = this.#attempt;
    if (!mayHaveOthers && others.isHeard()) return [];
    const rows = await table.lane(database, queue, this.work.key);
    return rows.filter(({ job, id }) => job !== claim.id && !claimed.has(id));
  }

  #assertMayGoOn(): void {
    assertCurrent(this.#attempt);
    if (this.exhausted) throw new Error(`${this.work.id} is used up: it may only be buried`);
  }

  #notPublished(error: unknown): void {
    this.#node.log.debug("an event that is never stored was not published", { id: this.work.id, error });
  }
}

/** Lets the work of an attempt be claimed again after a while; it did not count. @throws {EngineError} `fenced` */
export async function giveBack(
  { database, jobs, work, lanes }: Node,
  attempt: Attempt,
  delayMs: number,
): Promise<void> {
  await database.transaction(async (tx) => {
    await jobs.giveBack(tx, attempt.queue, attempt.claim, delayMs);
    await work.end(tx, attempt.claim.id, { delayMs, isCounted: false });
  });
  lanes.wakeAfter(attempt.queue, delayMs);
}

/** Adds events and what goes with them to a session, all or nothing, and resolves once they are published. */
async function store(node: Node, sessionKey: string, storing: Storing): Promise<readonly StoredEvent[]> {
  const { emit = [], next, stored } = storing;
  const { database, feed, lanes, now, counts: shown, records } = node;
  return await feed.inOrder(sessionKey, async () => {
    const change = shown.begin();
    let changed: Change = {};
    try {
      const acceptedAt = emit.length === 0 ? 0 : now();
      const write = (sql: CarefulSql) => writeOnce(node, sql, sessionKey, { ...storing, acceptedAt });
      const { batch, result } =
        next === undefined
          ? await database.one(write)
          : await database.transaction(async (tx) => {
              const written = await write(tx);
              await next(tx);
              return written;
            });
      const added = addedOf(emit, result);
      changed = sumOf(stored?.(result) ?? {}, added);
      records.take(result.counted ?? []);
      await feed.stored(sessionKey, batch.added);
      for (const work of added) lanes.accepted({ ...work, acceptedAt, attempts: 0 });
      return batch.events;
    } finally {
      change.end(changed);
    }
  });
}

async function writeOnce(
  { events: log, feed, work, records }: Node,
  sql: CarefulSql,
  sessionKey: string,
  { events = [], emit = [], counts = [], afterSeq, also, acceptedAt }: Storing & { readonly acceptedAt: number },
) {
  const statement = new Statement();
  const timeOf = feed.timeOf.bind(feed);
  const read = await log.addTo(statement, sql, [{ sessionKey, drafts: events }], { afterSeq, timeOf });
  const isNew = !statement.isEmpty;
  also?.(statement);
  work.addTo(statement, emit, acceptedAt);
  if (isNew) records.countBy(statement, sessionKey, counts);
  const result = (await statement.run<Result>(sql)) ?? {};
  const [batch = { events: [], added: [] }] = read(result);
  return { batch, result };
}

export async function append(
  node: Node,
  sessionKey: string,
  events: readonly EventDraft[],
  { afterSeq, counts = [] }: AppendOptions,
): Promise<readonly StoredEvent[]> {
  if (events.length === 0) return [];
  return await store(node, sessionKey, { events, counts, afterSeq, stored: () => wasAppended(node) });
}

function wasAppended({ boundary }: Node): Change {
  boundary("append:after-write");
  return {};
}

/** Publishes an event that is never stored, here and on the other nodes. */
export async function announce(node: Node, sessionKey: string, event: EventDraft): Promise<void> {
  const { feed } = node;
  feed.stamp(sessionKey);
  await feed.inOrder(sessionKey, () => feed.unstored(sessionKey, event));
}

function sumOf(ended: Change, added: readonly Work[]): Change {
  const count = (queue: QueueName): number => added.filter((work) => work.queue === queue).length;
  return {
    ...ended,
    inbound: (ended.inbound ?? 0) + count("inbound"),
    outbound: (ended.outbound ?? 0) + count("outbound"),
  };
}

function isFenced(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "fenced";
}
