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
import type { StoredBatch } from "../events/event-table.js";
import type { Node } from "../node.js";
import type { Sql, Transaction } from "../sql/database.js";
import { type Attempt, assertCurrent, endAttempt, fence } from "./attempt.js";
import { type Change, toStoredWork } from "./work-table.js";

interface Storing extends Partial<Commit> {
  readonly afterSeq?: number | undefined;
  /** What else is in the transaction; gives how many pieces of work it has taken away. */
  readonly also?: (tx: Transaction) => Promise<Change>;
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
      also: async (tx) => {
        await jobs.assertHeld(tx, queue, claim);
        this.#node.boundary("append:after-write");
        return {};
      },
    });
    if (emit.length > 0) this.#node.boundary("append:after-sync");
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
    const claimed = [...this.#attempt.claimed.values()];
    return await this.#finish(commit, "commit", claimed, async () => ({}));
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
    return await this.#finish(commit, "bury", [], async (tx) => {
      await tx.query(
        `INSERT INTO @dead (id, queue, key, session, dedup, body, accepted_at, attempts, reason, buried_at)
         SELECT id, queue, key, session, dedup, body, accepted_at, attempts, $2, $3 FROM @work WHERE job = $1`,
        [this.#attempt.claim.id, reason, Math.round(now())],
      );
      return { dead: 1 };
    });
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
    also: (tx: Transaction) => Promise<Change>,
  ): Promise<readonly StoredEvent[]> {
    const { jobs, work: table, lanes, boundary } = this.#node;
    const { queue, claim, work } = this.#attempt;
    let hasNext = false;
    assertCurrent(this.#attempt);
    boundary(`${how}:before-write`, queue);
    const ended = this.#storeAndEnd({
      ...commit,
      also: async (tx) => {
        await jobs.finish(tx, queue, claim, claimed);
        const change = await also(tx);
        const removed = await table.remove(tx, work, [claim.id, ...claimed]);
        boundary(`${how}:after-write`, queue);
        hasNext = removed.hasNext;
        return { ...change, [queue]: -removed.count };
      },
    });
    const events = await ended;
    if (hasNext) lanes.wakeAfter(queue, 0);
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
      also: async (tx) => {
        await jobs.giveBack(tx, queue, claim, how.delayMs);
        await table.end(tx, claim.id, how);
        return {};
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

  async #store({ events = [], emit = [], counts, afterSeq, also }: Storing): Promise<readonly StoredEvent[]> {
    const options = { events, emit, counts, afterSeq, also };
    try {
      return await store(this.#node, this.work.sessionKey, options);
    } catch (error) {
      if (isFenced(error)) fence(this.#attempt, "another one has its work, or it is done");
      throw error;
    }
  }

  /** The lane's other work. */
  async #free() {
    const { database, work: table } = this.#node;
    assertCurrent(this.#attempt);
    const { claim, claimed, queue } = this.#attempt;
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

/** Adds events and what goes with them to a session in one transaction, and resolves once they are published. */
export async function store(
  node: Node,
  sessionKey: string,
  { events = [], emit = [], counts = [], afterSeq, also }: Storing,
): Promise<readonly StoredEvent[]> {
  const { database, feed, lanes, work: table, now, counts: shown, records } = node;
  return await feed.inOrder(sessionKey, async () => {
    const change = shown.begin();
    let changed: Change = {};
    try {
      const acceptedAt = now();
      const stored = await database.transaction(async (tx) => {
        const batch = await addEvents(node, tx, sessionKey, events, afterSeq);
        const ended = (await also?.(tx)) ?? {};
        const added = await table.add(tx, emit, acceptedAt);
        const rows = batch.added.length === 0 ? [] : await records.count(tx, sessionKey, counts);
        return { batch, ended, added, rows };
      });
      changed = sumOf(stored.ended, stored.added);
      records.take(stored.rows);
      await feed.stored(sessionKey, stored.batch.added);
      for (const work of stored.added) lanes.accepted({ ...work, acceptedAt, attempts: 0 });
      return stored.batch.events;
    } finally {
      change.end(changed);
    }
  });
}

/** Events alone are one statement, which is a transaction by itself. */
export async function append(
  node: Node,
  sessionKey: string,
  events: readonly EventDraft[],
  { afterSeq, counts = [] }: AppendOptions,
): Promise<readonly StoredEvent[]> {
  const { database, feed } = node;
  if (events.length === 0) return [];
  if (counts.length > 0) return await store(node, sessionKey, { events, counts, afterSeq });
  const batch = await feed.inOrder(sessionKey, async () => {
    const added = await database.one((sql) => addEvents(node, sql, sessionKey, events, afterSeq));
    node.boundary("append:after-write");
    await feed.stored(sessionKey, added.added);
    return added;
  });
  return batch.events;
}

/** Publishes an event that is never stored, here and on the other nodes. */
export async function announce(node: Node, sessionKey: string, event: EventDraft): Promise<void> {
  const { feed } = node;
  feed.stamp(sessionKey);
  await feed.inOrder(sessionKey, () => feed.unstored(sessionKey, event));
}

async function addEvents(
  { events: log, feed }: Node,
  sql: Sql & { readonly isCareful?: boolean },
  sessionKey: string,
  events: readonly EventDraft[],
  afterSeq: number | undefined,
): Promise<StoredBatch> {
  if (events.length === 0) return { events: [], added: [] };
  return await log.add(sql, sessionKey, events, { afterSeq, timeOf: (key, draft) => feed.timeOf(key, draft) });
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
