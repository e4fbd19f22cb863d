import { deepFreeze } from "../../../util/deep-freeze.js";
import type { DeadLetter, QueueName, StoredWork, Work } from "../../engine.js";
import type { Operation } from "../journal/operations.js";
import type { Run, Suspicion } from "./suspicion.js";

/** A piece of work that waits or runs. */
export interface WorkItem {
  readonly work: Work;
  readonly acceptedAt: number;
  attempts: number;
  /** Attempts that ended with their process. */
  crashes: number;
  /** While it is in work. */
  run: Run | undefined;
  suspicion: Suspicion | undefined;
  /** Unix ms; 0 when it may run at once. */
  notBefore: number;
  /** How long it was to wait when `notBefore` was set; undefined where that is not known. */
  delayMs: number | undefined;
  /** False until the transaction that brought it is synced: nobody may see it before. */
  isDurable: boolean;
  stored: StoredWork | undefined;
  /** Attempts so far: none, those that the journal and the log tell about, or perhaps others too (see {@link StoredWork}). */
  past: "none" | "told" | "unclear";
  /** The attempt that runs or has claimed it. */
  takenBy: object | undefined;
}

export interface Lane {
  /** Names the lane among those of both queues. */
  readonly id: string;
  readonly queue: QueueName;
  readonly key: string;
  /** In the order of accepting; the head runs. */
  readonly items: WorkItem[];
  /** Of all items, roughly. */
  bytes: number;
}

type WorkOperation = Extract<
  Operation,
  { o: "work" | "attempt" | "retry" | "ack" | "bury" | "dead" | "redrive" | "drop" }
>;

/** The oldest replies make room for newer ones. */
const mostDead = 1000;

/** Work that is accepted and not acknowledged, by lane, and the dead letters. */
export class WorkTable {
  readonly #lanes = new Map<string, Lane>();
  readonly #items: Record<QueueName, Map<string, WorkItem>> = { inbound: new Map(), outbound: new Map() };
  readonly #dead = new Map<string, DeadLetter>();
  #bytes = 0;

  apply(operation: WorkOperation, isDurable: boolean): void {
    switch (operation.o) {
      case "work":
        this.#add(operation, isDurable);
        break;
      case "attempt":
        this.#change(operation, (item) => {
          item.attempts = operation.attempts;
          item.run = operation.run;
          item.crashes = operation.crashes ?? item.crashes;
          item.suspicion = operation.suspicion ?? item.suspicion;
        });
        break;
      case "retry":
        this.#change(operation, (item) => {
          item.notBefore = operation.notBefore;
          item.delayMs = operation.delayMs;
          // The process has survived it.
          item.run = undefined;
          item.suspicion = undefined;
        });
        break;
      case "ack":
        this.#change(operation, (item) => this.#take(item));
        break;
      case "bury":
        this.#change(operation, (item) => {
          this.#take(item);
          this.#bury(toStored(item), operation.reason, operation.at);
        });
        break;
      case "dead":
        this.#bury(
          { ...operation.work, acceptedAt: operation.acceptedAt, attempts: operation.attempts },
          operation.reason,
          operation.at,
        );
        break;
      case "redrive": {
        const letter = this.#dead.get(operation.id);
        if (letter === undefined) break;
        this.#dead.delete(operation.id);
        const { acceptedAt: _acceptedAt, attempts: _attempts, ...work } = letter.work;
        this.#add({ work, at: operation.at }, isDurable);
        break;
      }
      case "drop":
        this.#dead.delete(operation.id);
        break;
      default:
        operation satisfies never;
    }
  }

  /** Drops everything that belongs to a deleted session. */
  removeSession(sessionKey: string): void {
    for (const items of Object.values(this.#items)) {
      for (const item of items.values()) if (item.work.sessionKey === sessionKey) this.#take(item);
    }
    for (const [id, letter] of this.#dead) if (letter.work.sessionKey === sessionKey) this.#dead.delete(id);
  }

  lane(queue: QueueName, key: string): Lane | undefined {
    return this.#lanes.get(laneId(queue, key));
  }

  lanes(queue: QueueName): readonly Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.queue === queue);
  }

  /** How much is in a lane, and in all of them. */
  sizeOf(
    queue: QueueName,
    key: string,
  ): { readonly count: number; readonly bytes: number; readonly bytesOfAll: number } {
    const { items, bytes } = this.lane(queue, key) ?? { items: [], bytes: 0 };
    return { count: items.length, bytes, bytesOfAll: this.#bytes };
  }

  item(queue: QueueName, id: string): WorkItem | undefined {
    return this.#items[queue].get(id);
  }

  has(item: WorkItem): boolean {
    return this.#items[item.work.queue].get(item.work.id) === item;
  }

  /** True while work of this id waits, runs or is buried. */
  holds(id: string): boolean {
    return this.#items.inbound.has(id) || this.#items.outbound.has(id) || this.#dead.has(id);
  }

  hasWorkOf(sessionKey: string): boolean {
    for (const items of Object.values(this.#items)) {
      for (const item of items.values()) if (item.work.sessionKey === sessionKey) return true;
    }
    return [...this.#dead.values()].some((letter) => letter.work.sessionKey === sessionKey);
  }

  *all(): Iterable<WorkItem> {
    for (const items of Object.values(this.#items)) yield* items.values();
  }

  count(queue: QueueName): number {
    return this.#items[queue].size;
  }

  /** Unix ms at which the oldest of each queue was accepted. */
  oldest(): Partial<Record<QueueName, number>> {
    const oldest: Partial<Record<QueueName, number>> = {};
    for (const { work, acceptedAt } of this.all())
      oldest[work.queue] = Math.min(oldest[work.queue] ?? acceptedAt, acceptedAt);
    return oldest;
  }

  get dead(): ReadonlyMap<string, DeadLetter> {
    return this.#dead;
  }

  *checkpoint(): Iterable<Operation> {
    for (const { work, reason, buriedAt } of this.#dead.values()) {
      const { acceptedAt, attempts, ...bare } = work;
      yield { o: "dead", work: bare, acceptedAt, attempts, reason, at: buriedAt };
    }
    for (const lane of this.#lanes.values()) {
      for (const { work, acceptedAt: at, attempts, crashes, notBefore, delayMs, run, suspicion } of lane.items) {
        // What is undefined is not written.
        yield {
          o: "work",
          work,
          at,
          attempts,
          notBefore,
          delayMs,
          run,
          suspicion,
          ...(crashes > 0 ? { crashes } : {}),
        };
      }
    }
  }

  #add(added: Omit<Extract<Operation, { o: "work" }>, "o">, isDurable: boolean): void {
    const { queue, id, key } = added.work;
    if (this.#items[queue].has(id)) return;
    const item: WorkItem = {
      work: deepFreeze(added.work),
      acceptedAt: added.at,
      attempts: added.attempts ?? 0,
      crashes: added.crashes ?? 0,
      run: added.run,
      suspicion: added.suspicion,
      notBefore: added.notBefore ?? 0,
      delayMs: added.delayMs,
      isDurable,
      stored: undefined,
      // What is durable when it is added was read from the files.
      past: isDurable ? "told" : "none",
      takenBy: undefined,
    };
    this.#items[queue].set(id, item);
    const laneName = laneId(queue, key);
    const lane = this.#lanes.get(laneName);
    const bytes = bytesOf(item.work);
    this.#bytes += bytes;
    if (lane === undefined) this.#lanes.set(laneName, { id: laneName, queue, key, items: [item], bytes });
    else {
      lane.items.push(item);
      lane.bytes += bytes;
    }
  }

  #change(target: { readonly queue: QueueName; readonly id: string }, change: (item: WorkItem) => void): void {
    const item = this.#items[target.queue].get(target.id);
    if (item !== undefined) change(item);
  }

  #take(item: WorkItem): void {
    const { queue, id, key } = item.work;
    this.#items[queue].delete(id);
    const lane = this.#lanes.get(laneId(queue, key));
    if (lane === undefined) return;
    lane.items.splice(lane.items.indexOf(item), 1);
    const bytes = bytesOf(item.work);
    lane.bytes -= bytes;
    this.#bytes -= bytes;
    if (lane.items.length === 0) this.#lanes.delete(lane.id);
  }

  #bury(work: StoredWork, reason: string, buriedAt: number): void {
    this.#dead.set(work.id, deepFreeze({ work, reason, buriedAt }));
    if (this.#dead.size <= mostDead) return;
    // A chat that has blocked the bot must not fill the journal; how each reply ended stays in its session's log.
    for (const [id, letter] of this.#dead) {
      if (letter.work.queue !== "outbound") continue;
      this.#dead.delete(id);
      return;
    }
  }
}

/** Of a piece of work in the journal and in memory, roughly. */
function bytesOf({ body }: Work): number {
  const { content, attachments } = body;
  const quoted = "quoted" in body ? (body.quoted?.text.length ?? 0) : 0;
  return 1000 + content.length + quoted + 300 * attachments.length;
}

export function toStored(item: WorkItem): StoredWork {
  const { work, acceptedAt, attempts } = item;
  const mayHaveBegun = item.past === "unclear";
  // A long lane is looked at often.
  if (item.stored?.attempts !== attempts || (item.stored.mayHaveBegun ?? false) !== mayHaveBegun)
    item.stored = { ...work, acceptedAt, attempts, ...(mayHaveBegun ? { mayHaveBegun } : {}) };
  return item.stored;
}

export function laneId(queue: QueueName, key: string): string {
  return `${queue} ${key}`;
}
