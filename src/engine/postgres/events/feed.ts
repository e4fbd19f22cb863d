import { draft, type EventDraft, type GatewayEvent, isDeletion, type StoredEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import { timeOf, toEvent } from "../../to-event.js";
import type { Database } from "../sql/database.js";
import type { EventTable } from "./event-table.js";

const pageSize = 500;

interface Session {
  /** The number of the last stored event that was published here. Undefined: nothing is known yet. */
  published: number | undefined;
  /** Unix ms of the newest event, those that are not stored included. */
  time: number;
  /** Up to this number the session was deleted, and that is published here or was so before this node knew of the session. */
  told: number;
  /** The same for what this node has deleted and is about to announce. */
  own: number;
  /** What this node has stored and not published yet. */
  readonly ahead: Map<number, StoredEvent>;
}

/** What is told about a deletion of which only the outcome was seen. */
const unseen = { from: "active", to: "deleted", reason: "client" };
const unknownNode = "unknown";

export interface FeedOptions {
  readonly database: Database;
  readonly table: EventTable;
  readonly instanceId: string;
  readonly publish: (event: GatewayEvent) => void;
  /** Takes an event that is never stored to the other nodes. */
  readonly tell: (event: GatewayEvent) => void;
  /** Tells them that a session has events up to this number. */
  readonly tellStored: (sessionKey: string, seq: number) => void;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Publishes the events of all nodes here: each stored one once, and each session's in order. That a session was deleted is
 * published once, and before anything of its next life.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #sessions = new Map<string, Session>();
  /** What is done in a session, one after the other. */
  readonly #steps = new InOrder<string>();
  /** What could not be read yet. */
  readonly #missed = new Map<string, number>();
  /** What was stored before this moment is not published here. */
  #opened = "";

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const [row] = await this.#options.database.query<{ snapshot: string }>(
      "SELECT pg_current_snapshot()::text AS snapshot",
    );
    this.#opened = row?.snapshot ?? "";
  }

  /** Does something in a session after everything that was begun in it before. */
  inOrder<T>(sessionKey: string, step: () => Promise<T>): Promise<T> {
    return this.#steps.run(step, sessionKey);
  }

  /** Unix ms for an event that is stored now. */
  timeOf(sessionKey: string, draft: Pick<EventDraft, "at">): number {
    return Math.max(timeOf(draft, this.#options.now()), this.#session(sessionKey).time);
  }

  /** An event of this moment will come: those after it are not older. */
  stamp(sessionKey: string): void {
    this.#session(sessionKey).time = this.timeOf(sessionKey, {});
  }

  /** This node has stored these events, which `stored` will publish: a step that comes before knows them. */
  arrived(sessionKey: string, added: readonly StoredEvent[]): void {
    const { ahead } = this.#session(sessionKey);
    for (const event of added) ahead.set(event.seq, event);
  }

  /** Publishes what this node has stored, and whatever others have stored before it. Within a step of the session. */
  async stored(sessionKey: string, added: readonly StoredEvent[]): Promise<void> {
    const [first, last = first] = [added.at(0), added.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#options.tellStored(sessionKey, last.seq);
    this.arrived(sessionKey, added);
    const session = await this.#known(sessionKey, first.seq);
    for (let next = session.ahead.get(nextOf(session)); next !== undefined; next = session.ahead.get(nextOf(session)))
      this.#emit(session, next);
    if (nextOf(session) <= last.seq) await this.#catchUp(sessionKey);
    // What was deleted meanwhile stays unpublished.
    for (const { seq } of added) session.ahead.delete(seq);
  }

  /** This node has deleted what the session had up to this number. Within a step of the session. */
  deleted(sessionKey: string, upTo: number): void {
    const session = this.#session(sessionKey);
    session.own = upTo;
    session.published ??= upTo;
  }

  /** Another node has stored events up to this number, and some node has deleted those up to the other one. */
  seen(sessionKey: string, seq: number, deleted = 0): void {
    const session = this.#session(sessionKey);
    const { published, told, own } = session;
    const isGone = published !== undefined && deleted > Math.max(told, own);
    if (!isGone && published !== undefined && published >= seq) return;
    const look = async (): Promise<void> => {
      if (isGone) this.#tellDeleted(sessionKey, session, deleted);
      if (isGone || nextOf(session) <= seq) await this.#catchUp(sessionKey);
    };
    void this.inOrder(sessionKey, look).catch((error: unknown) => {
      // The next look at the database finds them as well.
      this.#options.log.debug("events of another node could not be read yet", { session: sessionKey, error });
      this.#missed.set(sessionKey, seq);
    });
  }

  /** Resolves once what was stored in a session up to this number is published here, no matter which node has stored it. */
  async reach(sessionKey: string, seq: number): Promise<void> {
    const isThere = (): boolean => (this.#session(sessionKey).published ?? -1) >= seq;
    if (isThere()) return;
    await this.inOrder(sessionKey, async () => {
      if (!isThere()) await this.#catchUp(sessionKey);
    });
  }

  /** Tries again what could not be read. */
  retryMissed(): void {
    for (const [sessionKey, seq] of this.#missed) {
      this.#missed.delete(sessionKey);
      this.seen(sessionKey, seq);
    }
  }

  /** Publishes an event of this node that is never stored, with the time of `stamp`. Within a step of the session. */
  async unstored(sessionKey: string, draft: EventDraft): Promise<void> {
    const session = await this.#known(sessionKey, undefined);
    const dropped = isDeletion(draft) && session.own > 0 ? session.own : undefined;
    const event = this.#unstoredEvent(sessionKey, session, { draft, dropped });
    if (dropped === undefined || isNews(session, dropped)) this.#publish(event);
    this.#options.tell(event);
  }

  /** The same for one that another node has published. */
  async unstoredElsewhere(event: GatewayEvent): Promise<void> {
    const { session_key: sessionKey, after_seq: afterSeq = 0, delta_index: index } = event;
    const dropped = isDeletion(event) ? event.metadata.dropped : undefined;
    await this.inOrder(sessionKey, async () => {
      this.#session(sessionKey).published ??= dropped;
      const session = await this.#known(sessionKey, undefined);
      if ((session.published ?? 0) < afterSeq) await this.#catchUp(sessionKey);
      if (dropped !== undefined && !isNews(session, dropped)) return;
      const published = session.published ?? 0;
      // The pieces of an answer are worth nothing behind what was stored after them: the whole of it.
      if (published > afterSeq && index !== undefined) return;
      session.time = Math.max(session.time, Date.parse(event.timestamp));
      this.#publish(published > afterSeq ? Object.freeze({ ...event, after_seq: published }) : event);
    });
  }

  /** Resolves once nothing is being published. */
  async settled(): Promise<void> {
    await this.#steps.settled();
  }

  #session(sessionKey: string): Session {
    let session = this.#sessions.get(sessionKey);
    if (session === undefined) {
      session = { published: undefined, time: 0, told: 0, own: 0, ahead: new Map() };
      this.#sessions.set(sessionKey, session);
    }
    return session;
  }

  /** `first`: this node has just stored this number. */
  async #known(sessionKey: string, first: number | undefined): Promise<Session> {
    const session = this.#session(sessionKey);
    if (session.published !== undefined) return session;
    const before = first === 1 ? undefined : await this.#before(sessionKey);
    session.published = before?.seq ?? 0;
    session.told = before?.deleted ?? 0;
    return session;
  }

  /** The last number that was there when this node began, and up to where the session was deleted. */
  async #before(sessionKey: string): Promise<{ readonly seq: number; readonly deleted: number } | undefined> {
    const { database } = this.#options;
    // Numbers are in the order of the commits, so what came later is at the end.
    const [row] = await database.query<{ seq: number; deleted: number }>(
      `SELECT coalesce((SELECT seq FROM @events WHERE session = $1 AND pg_visible_in_snapshot(xid, $2::pg_snapshot)
         ORDER BY seq DESC LIMIT 1), deleted)::float8 AS seq, deleted::float8 FROM @sessions WHERE key = $1`,
      [sessionKey, this.#opened],
    );
    return row;
  }

  async #catchUp(sessionKey: string): Promise<void> {
    const { database, table } = this.#options;
    const session = await this.#known(sessionKey, undefined);
    for (let hasMore = true; hasMore; ) {
      const range = { afterSeq: session.published ?? 0, limit: pageSize };
      const page = await table.read(database, sessionKey, range);
      for (const event of page.events) this.#emit(session, event);
      ({ hasMore } = page);
    }
  }

  /** For those who follow the session, when nobody has announced it here in time. */
  #tellDeleted(sessionKey: string, session: Session, upTo: number): void {
    if (!isNews(session, upTo)) return;
    const gone = draft("session_state_changed", unseen, { source: "client" });
    this.#publish(this.#unstoredEvent(sessionKey, session, { draft: gone, dropped: upTo }));
  }

  #unstoredEvent(
    sessionKey: string,
    { published: afterSeq = 0, time, own }: Session,
    { draft, dropped }: { readonly draft: EventDraft; readonly dropped: number | undefined },
  ): GatewayEvent {
    const instanceId = dropped === undefined || dropped === own ? this.#options.instanceId : unknownNode;
    return toEvent(draft, { sessionKey, seq: null, afterSeq, time, instanceId, dropped });
  }

  #emit(session: Session, event: StoredEvent): void {
    const { dropped = 0 } = event.metadata;
    const isNewLife = dropped > 0 && dropped === event.seq - 1 && (session.published ?? 0) > 0;
    if (isNewLife) this.#tellDeleted(event.session_key, session, dropped);
    session.published = event.seq;
    session.ahead.delete(event.seq);
    session.time = Math.max(session.time, Date.parse(event.timestamp));
    this.#publish(event);
  }

  #publish(event: GatewayEvent): void {
    try {
      this.#options.publish(event);
    } catch (error) {
      this.#options.log.error("publishing an event failed; it is stored all the same", { type: event.type, error });
    }
  }
}

function nextOf({ published = 0 }: Session): number {
  return published + 1;
}

/** False: it was told before. */
function isNews(session: Session, deleted: number): boolean {
  if (session.told >= deleted) return false;
  session.told = deleted;
  session.published = Math.max(session.published ?? 0, deleted);
  return true;
}
