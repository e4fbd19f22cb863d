import { messageOf } from "../../errors.js";
import { specOf } from "../../events/catalogue.js";
import { type GatewayEvent, isStored, type StoredEvent } from "../../events/event.js";
import type { StreamSnapshots } from "../../events/stream-snapshots.js";
import type { EventConsumer } from "../../events/system-bus.js";
import { type Logger, silentLog } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { SubscribeOptions, Subscription } from "../messages/events-api.js";

/** Where a feed gets its events from. `events` and `lastSequence` are the engine's. */
export interface FeedSources {
  readonly bus: EventConsumer;
  events(
    sessionKey: string,
    range: { readonly afterSeq: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }>;
  lastSequence(sessionKey: string): Promise<number>;
  readonly snapshots: StreamSnapshots;
  /** The gateway's own session, `system:<node>`. */
  readonly systemKey: string;
  readonly log?: Logger;
}

/** A promise that it returns is awaited while the past is replayed, so that a slow reader is not flooded. */
export type FeedListener = (event: GatewayEvent) => void | Promise<void>;

const pageSize = 500;
/** Stored events held back while the past is read; older ones are read from the log instead. */
const maxPending = 1000;
const readAgainMs = 1000;

/**
 * Follows one session, `*` (all chats, live only) or `system`: the stored past after `fromSequence`, then the text of
 * the answer being streamed, then live; each stored event once, in seq order. Never calls `listener` before it has
 * returned. `caughtUp` rejects when the past cannot be read; the feed is then closed.
 */
export function openSessionFeed(
  sources: FeedSources,
  target: string,
  options: SubscribeOptions,
  listener: FeedListener,
): Subscription {
  const deliver = createDelivery(options.types, listener, sources.log ?? silentLog);
  if (target === "*") return openLiveFeed(sources.bus, (key) => !key.startsWith("system:"), options.after, deliver);
  const sessionKey = target === "system" ? sources.systemKey : target;
  return openOneSession(sources, sessionKey, options, deliver);
}

type Deliver = (event: GatewayEvent) => Promise<void> | undefined;

/** Leaves out what is not for this listener, and keeps its faults away from the bus. */
function createDelivery(types: readonly string[] | undefined, listener: FeedListener, log: Logger): Deliver {
  const wanted = types === undefined ? undefined : new Set(types);
  const onFault = (error: unknown): void => log.error("an event listener failed", { error });
  return (event) => {
    if (specOf(event.type).goesTo === "nobody" || wanted?.has(event.type) === false) return undefined;
    try {
      return listener(event)?.catch(onFault);
    } catch (error) {
      onFault(error);
      return undefined;
    }
  };
}

function openLiveFeed(
  bus: EventConsumer,
  isWanted: (sessionKey: string) => boolean,
  after: Promise<void> | undefined,
  deliver: Deliver,
): Subscription {
  const held: GatewayEvent[] = [];
  let isHeld = after !== undefined;
  const onEvent = (event: GatewayEvent): void => {
    if (isHeld) held.push(event);
    else void deliver(event);
  };
  const stop = bus.onAny(onEvent, { filter: (event) => isWanted(event.session_key) });
  let isClosed = false;
  const caughtUp = Promise.resolve(after).then(() => {
    isHeld = false;
    for (const event of held.splice(0)) if (!isClosed) void deliver(event);
  });
  return {
    joinedAt: Promise.resolve(undefined),
    caughtUp,
    close() {
      isClosed = true;
      stop();
    },
  };
}

function openOneSession(
  sources: FeedSources,
  sessionKey: string,
  { fromSequence, after }: SubscribeOptions,
  deliver: Deliver,
): Subscription {
  const { bus, snapshots, log = silentLog } = sources;
  const closing = new AbortController();
  const { signal } = closing;
  const told = createToldMessages();
  /** The last seq that was told, or not asked for; 0 until `join` knows. */
  let cursor = 0;
  let pending: StoredEvent[] = [];
  let live = false;

  const deliverStored = (event: StoredEvent): Promise<void> | undefined => {
    cursor = event.seq;
    told.note(event);
    return deliver(event);
  };

  const onEvent = (event: GatewayEvent): void => {
    if (!isStored(event)) {
      if (live) void deliver(event);
    } else if (live && event.seq === cursor + 1) {
      void deliverStored(event);
    } else if (event.seq > cursor) {
      pending.push(event);
      if (pending.length > maxPending) pending.shift();
      if (live) void catchUpAgain(event.seq);
    }
  };
  const stop = bus.onAny(onEvent, { filter: (event) => event.session_key === sessionKey });
  const close = (): void => {
    stop();
    closing.abort();
    pending = [];
  };

  /** Reads on until nothing is missing before the oldest event held back, then tells those. */
  const catchUp = async (isBehind: boolean): Promise<void> => {
    let readOn = isBehind;
    let nothingAfter = -1;
    while (!signal.aborted) {
      pending = pending.filter((event) => event.seq > cursor);
      const next = pending[0];
      const missing = next !== undefined && next.seq > cursor + 1;
      if (cursor !== nothingAfter && (readOn || missing)) {
        const after = cursor;
        const page = await sources.events(sessionKey, { afterSeq: after, limit: pageSize });
        for (const event of page.events) {
          if (signal.aborted) return;
          if (event.seq <= cursor) continue;
          const slow = deliverStored(event);
          if (slow !== undefined) await slow;
        }
        readOn = page.hasMore;
        if (cursor === after) nothingAfter = after;
      } else if (next !== undefined) {
        pending.shift();
        const slow = deliverStored(next);
        if (slow !== undefined) await slow;
      } else {
        return goLive();
      }
    }
  };

  /** In one go with the last look at `pending`: the bus delivers synchronously, so no event can come in between. */
  const goLive = (): void => {
    live = true;
    const snapshot = snapshots.snapshotOf(sessionKey);
    if (snapshot === undefined || told.isOver(snapshot.messageId, snapshot.turnId)) return;
    for (const event of snapshot.events) void deliver(event);
  };

  const join = async (): Promise<number> => {
    const last = await sources.lastSequence(sessionKey);
    if (fromSequence === undefined) {
      // What was told meanwhile is new.
      cursor = Math.min(last, (pending[0]?.seq ?? Number.POSITIVE_INFINITY) - 1);
      return cursor;
    }
    // A log that lost its unsynced tail in a power cut is behind what this client has seen.
    cursor = Math.min(fromSequence, last);
    return last;
  };

  const catchUpAgain = async (seq: number): Promise<void> => {
    live = false;
    log.warn("an event feed missed something and reads it from the log", { sessionKey, seq });
    while (!signal.aborted) {
      try {
        return await catchUp(true);
      } catch (error) {
        log.error("reading a session log for an event feed failed", { sessionKey, error: messageOf(error) });
        await sleep(readAgainMs, signal).catch(() => {});
      }
    }
  };

  const joinedAt = join();
  const follow = async (): Promise<void> => {
    const last = await joinedAt;
    await after;
    await catchUp(cursor < last);
  };
  const caughtUp = follow().catch((error: unknown) => {
    close();
    throw error;
  });
  // Whoever cares awaits it; nobody else is to be ended by it.
  for (const promise of [joinedAt, caughtUp]) promise.catch(() => {});
  return { joinedAt, caughtUp, close };
}

/** What was told from the log already, so that a snapshot does not tell it again. */
function createToldMessages() {
  let storedMessageId: string | undefined;
  let endedTurnId: string | undefined;
  return {
    note(event: StoredEvent): void {
      if (event.type === "assistant_message") storedMessageId = event.payload.message_id;
      if (specOf(event.type).terminal) endedTurnId = event.turn_id;
    },
    /** The log was ahead of the bus: what the snapshot would tell has been told as a stored message. */
    isOver(messageId: string, turnId: string | undefined): boolean {
      return messageId === storedMessageId || (turnId !== undefined && turnId === endedTurnId);
    },
  };
}
