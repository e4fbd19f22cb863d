import { EngineError } from "../../errors.js";
import type { EventDraft, StoredEvent } from "../../events/event.js";
import { Admission } from "../admission.js";
import type { Acceptance, AcceptOptions, Cursor, StoredWork, Work } from "../engine.js";
import type { Database, Transaction } from "./database.js";
import { isBadValue } from "./faults.js";
import type { Node } from "./node.js";

/** So many go into one transaction. */
const mostTogether = 50;
/** A lane has room for so many, however large they are. */
const alwaysRoomFor = 100;
const bytesPerKey = 16 * 1024 * 1024;
/** What must act at once is let in beyond the limit. */
const reserve = { pieces: 100, bytes: 1024 * 1024 };

interface Waiting {
  readonly work: Work;
  readonly options: AcceptOptions;
  readonly resolve: (acceptance: Acceptance) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of one of them; its promise is settled once the transaction is over. */
type Outcome =
  | { readonly events: readonly StoredEvent[]; readonly stored: StoredWork }
  | "duplicate"
  | { readonly error: unknown };

export interface AcceptLimits {
  readonly acceptsWaiting?: number;
  readonly pendingPerKey?: number;
  readonly waitMs?: number;
}

/** Takes work in, in the order of the calls: what comes while a transaction is on its way goes into the next one. */
export class Accepting {
  readonly #node: Node;
  readonly #admission: Admission;
  readonly #pendingPerKey: number;
  readonly #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(node: Node, { acceptsWaiting = 100, waitMs = 10_000, pendingPerKey = 10_000 }: AcceptLimits) {
    this.#node = node;
    this.#pendingPerKey = pendingPerKey;
    this.#admission = new Admission({ acceptsWaiting, waitMs });
  }

  async accept(work: Work, options: AcceptOptions, assertOpen: () => void): Promise<Acceptance> {
    const stored = await this.#admission.enter(() => {
      assertOpen();
      // In a box, because a promise would be waited for.
      return { done: this.#enqueue(work, options) };
    });
    try {
      return await stored.done;
    } finally {
      this.#admission.leave();
    }
  }

  /** Remembers the ids of work that is never taken. False: they are known. */
  async refuse(work: Work<"inbound">, cursor: Cursor | undefined): Promise<boolean> {
    const { database, work: table } = this.#node;
    return await database.transaction(async (tx) => {
      if ((await table.look(tx, work)).isKnown || !(await table.remember(tx, [work]))) return false;
      if (cursor !== undefined) await moveCursor(tx, cursor);
      return true;
    });
  }

  close(error: Error): void {
    this.#admission.close(error);
  }

  #enqueue(work: Work, options: AcceptOptions): Promise<Acceptance> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, options, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#writeSome(this.#waiting.splice(0, mostTogether));
    this.#isWriting = false;
  }

  async #writeSome(some: readonly Waiting[]): Promise<void> {
    const { counts, boundary } = this.#node;
    const change = counts.begin();
    try {
      const outcomes = await this.#transaction(this.#node.database, some);
      boundary("accept:after-sync");
      change.end({ inbound: accepted(some, outcomes, "inbound"), outbound: accepted(some, outcomes, "outbound") });
      for (const [index, waiting] of some.entries()) this.#settle(waiting, outcomes[index] ?? "duplicate");
    } catch (error) {
      change.end({});
      // One that cannot be stored must not turn the others away.
      if (some.length > 1 && isBadValue(error)) for (const one of some) await this.#writeSome([one]);
      else for (const { reject } of some) reject(error);
    }
  }

  async #transaction(database: Database, some: readonly Waiting[]): Promise<readonly Outcome[]> {
    const keys = [...new Set(some.map(({ work }) => work.sessionKey))].sort();
    return await database.transaction(async (tx) => {
      await tx.query("SELECT 1 FROM @sessions WHERE key = ANY ($1::text[]) ORDER BY key FOR UPDATE", [keys]);
      const outcomes: Outcome[] = [];
      for (const { work, options } of some) outcomes.push(await this.#take(tx, work, options));
      this.#node.boundary("accept:before-sync");
      return outcomes;
    });
  }

  async #take(tx: Transaction, work: Work, { events, cursor, isUrgent = false }: AcceptOptions): Promise<Outcome> {
    const { work: table, events: log, feed, now } = this.#node;
    const room = await table.look(tx, work);
    if (room.isKnown) return "duplicate";
    const drafts = this.#ready(work, room, events, isUrgent);
    if ("error" in drafts) return drafts;
    // Another node has accepted the same a moment ago: the next try sees that.
    if (!(await table.remember(tx, [work]))) throw Object.assign(new Error("accepted elsewhere"), { code: "40001" });
    const acceptedAt = now();
    await table.add(tx, [work], acceptedAt);
    if (cursor !== undefined) await moveCursor(tx, cursor);
    const stored: StoredWork = { ...work, acceptedAt, attempts: 0 };
    if (drafts.events.length === 0) return { events: [], stored };
    const time = feed.timeOf(work.sessionKey);
    return { events: (await log.add(tx, work.sessionKey, drafts.events, { time })).added, stored };
  }

  #ready(
    work: Work,
    { count, bytes }: { count: number; bytes: number },
    events: AcceptOptions["events"],
    isUrgent: boolean,
  ): { readonly events: readonly EventDraft[] } | { readonly error: unknown } {
    const more = isUrgent ? reserve : { pieces: 0, bytes: 0 };
    const isSmall = count < this.#pendingPerKey + more.pieces && bytes < bytesPerKey + more.bytes;
    if (!isSmall && count >= Math.min(alwaysRoomFor, this.#pendingPerKey)) {
      const message = `${work.key} has ${count} messages waiting, and no room for more`;
      return { error: new EngineError(message, { kind: "lane_full" }) };
    }
    try {
      return { events: typeof events === "function" ? events(count) : events };
    } catch (error) {
      return { error };
    }
  }

  #settle({ work, resolve, reject }: Waiting, outcome: Outcome): void {
    if (outcome === "duplicate" || "error" in outcome) {
      if (outcome === "duplicate") resolve({ status: "duplicate" });
      else reject(outcome.error);
      return;
    }
    const { feed, lanes, log } = this.#node;
    const { events, stored } = outcome;
    const told = feed.inOrder(work.sessionKey, () => feed.stored(work.sessionKey, events));
    void told
      .catch((error: unknown) => log.debug("events of an accepted message are published later", { error }))
      .then(() => {
        lanes.accepted(stored);
        resolve({ status: "accepted", events });
      });
  }
}

export async function moveCursor(tx: Transaction, { name, value }: Cursor): Promise<void> {
  await tx.query(
    "INSERT INTO @cursors (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, value],
  );
}

function accepted(some: readonly Waiting[], outcomes: readonly Outcome[], queue: Work["queue"]): number {
  return some.filter(({ work }, index) => {
    const outcome = outcomes[index];
    return work.queue === queue && outcome !== undefined && outcome !== "duplicate" && "events" in outcome;
  }).length;
}
