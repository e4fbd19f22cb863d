import { EngineError } from "../../../errors.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import { sleep } from "../../../util/async/sleep.js";
import { Admission } from "../../admission.js";
import type { Acceptance, AcceptOptions, Cursor, StoredWork, Work } from "../../engine.js";
import type { AddedRow } from "../events/event-table.js";
import type { Node } from "../node.js";
import type { Database } from "../sql/database.js";
import { isAway, isBadValue } from "../sql/faults.js";
import { Statement } from "../sql/statement.js";
import { addedOf, bytesOf, idsOf, type Room, type WorkResult } from "./work-table.js";

/** So many go into one transaction. */
const mostTogether = 50;
/** A lane has room for so many, however large they are. */
const alwaysRoomFor = 100;
const bytesPerKey = 16 * 1024 * 1024;
/** A database that is started again is back within moments: nobody needs to know. */
const patience = { ms: 3000, pauseMs: 200 };
/** What must act at once is let in beyond the limit. */
const reserve = { pieces: 100, bytes: 1024 * 1024 };

interface Waiting {
  readonly work: Work;
  readonly options: AcceptOptions;
  readonly resolve: (acceptance: Acceptance) => void;
  readonly reject: (error: unknown) => void;
}

/** The outcome for one of them; its promise is settled once the transaction is over. */
type Outcome =
  | { readonly events: readonly StoredEvent[]; readonly stored: StoredWork }
  | "duplicate"
  | { readonly error: unknown };

/** What is done with one of them. */
type Choice = { readonly drafts: readonly EventDraft[] } | Exclude<Outcome, { readonly stored: StoredWork }>;

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
  readonly #closing = new AbortController();
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
      if (!(await table.remember(tx, work))) return false;
      if (cursor === undefined) return true;
      const statement = new Statement();
      moveCursors(statement, [cursor]);
      await statement.run(tx);
      return true;
    });
  }

  close(error: Error): void {
    this.#closing.abort(error);
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
      const outcomes = await this.#whenThere(() => this.#transaction(this.#node.database, some));
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

  /** Does it again while the database is away for a moment. It looks first, so that what was stored all the same is found. */
  async #whenThere<T>(work: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience.ms;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isAway(error) || performance.now() > until || this.#closing.signal.aborted) throw error;
        await sleep(patience.pauseMs, this.#closing.signal).catch(() => undefined);
      }
    }
  }

  async #transaction(database: Database, some: readonly Waiting[]): Promise<readonly Outcome[]> {
    const { work: table, events, feed, now, boundary } = this.#node;
    return await database.transaction(async (tx) => {
      const acceptedAt = now();
      const chosen = this.#choose(
        some,
        await table.look(
          tx,
          some.map(({ work }) => work),
        ),
      );
      const taken = some.filter((_, index) => isTaken(chosen[index]));
      const statement = new Statement();
      const additions = some.map(({ work: { sessionKey } }, index) => ({
        sessionKey,
        drafts: draftsOf(chosen[index]),
      }));
      const read = await events.addTo(statement, tx, additions, { timeOf: feed.timeOf.bind(feed) });
      const works = taken.map(({ work }) => work);
      table.addTo(statement, works, acceptedAt);
      moveCursors(
        statement,
        taken.flatMap(({ options: { cursor } }) => cursor ?? []),
      );
      const result = (await statement.run<AddedRow & WorkResult>(tx)) ?? {};
      // Another node has accepted the same a moment ago: the next try sees that.
      if (addedOf(works, result).length < works.length)
        throw Object.assign(new Error("accepted elsewhere"), { code: "40001" });
      const batches = read(result);
      const outcomes = some.map(({ work }, index): Outcome => {
        const choice = chosen[index] ?? "duplicate";
        if (!isTaken(choice)) return choice;
        return { events: batches[index]?.added ?? [], stored: { ...work, acceptedAt, attempts: 0 } };
      });
      boundary("accept:before-sync");
      return outcomes;
    });
  }

  /** What is taken, one after the other: each sees those before it. */
  #choose(some: readonly Waiting[], rooms: readonly Room[]): readonly Choice[] {
    const ids = new Set<string>();
    const more = new Map<string, { count: number; bytes: number }>();
    return some.map(({ work, options }, index) => {
      const { isKnown, ...room } = rooms[index] ?? { isKnown: true, count: 0, bytes: 0 };
      if (isKnown || idsOf(work).some((id) => ids.has(id))) return "duplicate";
      const lane = `${work.queue} ${work.key}`;
      const before = more.get(lane) ?? { count: 0, bytes: 0 };
      const sum = { count: room.count + before.count, bytes: room.bytes + before.bytes };
      const choice = this.#ready(work, sum, options);
      if (!isTaken(choice)) return choice;
      for (const id of idsOf(work)) ids.add(id);
      more.set(lane, { count: before.count + 1, bytes: before.bytes + bytesOf(work.body) });
      return choice;
    });
  }

  #ready(work: Work, { count, bytes }: Omit<Room, "isKnown">, { events, isUrgent = false }: AcceptOptions): Choice {
    const more = isUrgent ? reserve : { pieces: 0, bytes: 0 };
    const isSmall = count < this.#pendingPerKey + more.pieces && bytes < bytesPerKey + more.bytes;
    if (!isSmall && count >= Math.min(alwaysRoomFor, this.#pendingPerKey)) {
      const message = `${work.key} has ${count} messages waiting, and no room for more`;
      return { error: new EngineError(message, { kind: "lane_full" }) };
    }
    try {
      return { drafts: typeof events === "function" ? events(count) : events };
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
    feed.arrived(work.sessionKey, events);
    const told = feed.inOrder(work.sessionKey, () => feed.stored(work.sessionKey, events));
    void told
      .catch((error: unknown) => log.debug("events of an accepted message are published later", { error }))
      .then(() => {
        lanes.accepted(stored);
        resolve({ status: "accepted", events });
      });
  }
}

/** The last one of each name counts. */
function moveCursors(statement: Statement, cursors: readonly Cursor[]): void {
  const newest = new Map(cursors.map(({ name, value }) => [name, value]));
  if (newest.size === 0) return;
  const [names, values] = [statement.value([...newest.keys()]), statement.value([...newest.values()])];
  statement.with(
    "cursors",
    `INSERT INTO @cursors (name, value) SELECT * FROM unnest(${names}::text[], ${values}::text[]) ORDER BY 1
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
}

function isTaken(choice: Choice | undefined): choice is { readonly drafts: readonly EventDraft[] } {
  return typeof choice === "object" && "drafts" in choice;
}

function draftsOf(choice: Choice | undefined): readonly EventDraft[] {
  return isTaken(choice) ? choice.drafts : [];
}

function accepted(some: readonly Waiting[], outcomes: readonly Outcome[], queue: Work["queue"]): number {
  return some.filter(({ work }, index) => {
    const outcome = outcomes[index];
    return work.queue === queue && outcome !== undefined && outcome !== "duplicate" && "events" in outcome;
  }).length;
}
