import type { GatewayEvent, StoredEvent } from "../../../events/event.js";
import { deepFreeze } from "../../../util/deep-freeze.js";
import { isNewId } from "../../../util/ids.js";
import type { Operation } from "../journal/operations.js";
import { type LoggedEvent, toLogged } from "./known-ids.js";
import { RecentIds } from "./recent-ids.js";

const keptEvents = 50;
const keptBytes = 32 * 1024;

/** An event in memory. */
interface TailEntry {
  readonly event: StoredEvent;
  readonly bytes: number;
  /** Where in the stream of journal bytes it ends: it may enter the session log once that is synced. */
  readonly position: number;
}

/** Events that are published together, in seq order. */
export interface Publication {
  readonly events: readonly GatewayEvent[];
  isReady: boolean;
  /** Called once they are out. */
  onPublished: (() => void) | undefined;
}

/** What memory holds of one session. */
export interface Session {
  readonly key: string;
  /** 0 when there are no events. */
  lastSeq: number;
  /** Unix ms of the last event. */
  lastTime: number;
  /** The newest events: all that are not in the session log yet, and some before them. */
  readonly tail: TailEntry[];
  /** The session log holds everything up to here. */
  flushedSeq: number;
  /** Length of the session log; undefined until it was compared with the journal. */
  logBytes: number | undefined;
  /** The ids of the newest events of this journal segment and of the one before. */
  readonly ids: RecentIds;
  /** What the log and later events hold under ids that may be given again; undefined until somebody asks. */
  loggedIds: Map<string, LoggedEvent> | undefined;
  readonly unpublished: Publication[];
  isPublishing: boolean;
}

export interface Tombstone {
  readonly seq: number;
  /** Unix ms of the last event. */
  readonly timestamp: number;
  /** The session's log is off the disk. */
  isGone: boolean;
}

/** Sessions that have events in the journal or were used lately, and the tombstones of the deleted ones. */
export class SessionTable {
  readonly #sessions = new Map<string, Session>();
  readonly tombstones = new Map<string, Tombstone>();

  find(key: string): Session | undefined {
    return this.#sessions.get(key);
  }

  all(): Iterable<Session> {
    return this.#sessions.values();
  }

  add(key: string): Session {
    const session: Session = {
      key,
      lastSeq: 0,
      lastTime: 0,
      tail: [],
      flushedSeq: 0,
      logBytes: undefined,
      ids: new RecentIds(),
      loggedIds: undefined,
      unpublished: [],
      isPublishing: false,
    };
    this.#sessions.set(key, session);
    return session;
  }

  applyEvent(event: StoredEvent, bytes: number, position: number): void {
    if (event.seq <= (this.tombstones.get(event.session_key)?.seq ?? 0)) return;
    let session = this.#sessions.get(event.session_key);
    if (session === undefined) {
      session = this.add(event.session_key);
      // What is before the journal's first event is in the log.
      session.flushedSeq = event.seq - 1;
    }
    if (event.seq <= session.lastSeq) return;
    session.lastSeq = event.seq;
    session.lastTime = Math.max(session.lastTime, Date.parse(event.timestamp));
    session.tail.push({ event: deepFreeze(event), bytes, position });
    session.ids.add(event.event_id, event.seq);
    if (!isNewId(event.event_id)) session.loggedIds?.set(event.event_id, toLogged(event));
  }

  applyTombstone(key: string, seq: number, timestamp: number): void {
    this.tombstones.set(key, { seq, timestamp, isGone: false });
    const session = this.#sessions.get(key);
    if (session === undefined) return;
    session.lastSeq = seq;
    session.lastTime = timestamp;
    session.flushedSeq = seq;
    session.tail.length = 0;
    session.logBytes = undefined;
    session.ids.clear();
    session.loggedIds = undefined;
  }

  /** Where an event id is in its session. */
  seqOf(session: Session, eventId: string): number | undefined {
    return session.ids.find(eventId);
  }

  /** A new segment begins: ids of the one before the last are forgotten, and so are sessions at rest. */
  startSegment(): void {
    for (const session of this.#sessions.values()) {
      session.ids.startSegment(pendingOf(session).length > 0);
      this.forget(session);
    }
  }

  /** Takes a session out of memory, as far as nothing in it is needed. */
  forget(session: Session): void {
    trim(session, 0);
    const isRemembered = session.tail.length + session.ids.size > 0;
    const isUsed = isRemembered || session.unpublished.length > 0 || session.isPublishing;
    if (!isUsed && this.#sessions.get(session.key) === session) this.#sessions.delete(session.key);
  }

  *checkpoint(): Iterable<Operation> {
    for (const [key, { seq, timestamp, isGone }] of this.tombstones) {
      yield { o: "tombstone", key, seq, timestamp };
      if (isGone) yield { o: "gone", key };
    }
    for (const session of this.#sessions.values()) {
      for (const { event } of pendingOf(session)) yield { o: "event", event };
    }
  }
}

/** The events that are not in the session log yet. */
export function pendingOf(session: Session): readonly TailEntry[] {
  return session.tail.filter(({ event }) => event.seq > session.flushedSeq);
}

/** Lets go of the events up to one that is missing here, and that the log has: up to there the log is read. */
export function trimToGap(session: Session): void {
  // The next event would come behind a gap.
  if ((session.tail.at(-1)?.event.seq ?? session.flushedSeq) < session.flushedSeq) session.tail.length = 0;
  const from = session.tail.findLastIndex(({ event: { seq } }, index) => {
    const before = session.tail[index - 1]?.event.seq ?? seq - 1;
    return before < seq - 1 && before < session.flushedSeq;
  });
  if (from > 0) session.tail.splice(0, from);
}

/** Lets go of flushed events, except for the newest ones within the limits. */
export function trim(session: Session, keep = keptEvents): void {
  let bytes = 0;
  let cut = session.tail.length;
  while (cut > 0) {
    const entry = session.tail[cut - 1];
    if (entry === undefined) break;
    bytes += entry.bytes;
    const isFlushed = entry.event.seq <= session.flushedSeq;
    if (isFlushed && (session.tail.length - cut >= keep || bytes > keptBytes)) break;
    cut -= 1;
  }
  session.tail.splice(0, cut);
}
