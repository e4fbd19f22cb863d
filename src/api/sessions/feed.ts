import { messageOf } from "../../errors.js";
import type { EventConsumer } from "../../events/bus/system-bus.js";
import { type EventType, specOf, typesWhere } from "../../events/catalogue.js";
import { type GatewayEvent, isStored, type StoredEvent } from "../../events/event.js";
import type { StreamSnapshots } from "../../events/folds/stream-snapshots.js";
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
  const types = wantedTypes(options.types);
  const deliver = createDelivery(types, listener, sources.log ?? silentLog);
  if (target === "*") return openLiveFeed(sources.bus, types, options.after, deliver);
  const sessionKey = target === "system" ? sources.systemKey : target;
  return new SessionFeed(sources, sessionKey, { ...options, types }, deliver);
}

type Types = ReadonlySet<EventType>;
type Deliver = (event: GatewayEvent) => Promise<void> | undefined;

/** What no client may see is never wanted. */
function wantedTypes(named: readonly string[] | undefined): Types {
  return new Set(typesWhere(({ goesTo }, type) => goesTo !== "nobody" && named?.includes(type) !== false));
}

/** Leaves out what is not for this listener, and keeps its faults away from the bus. */
function createDelivery(types: Types, listener: FeedListener, log: Logger): Deliver {
  const onFault = (error: unknown): void => log.error("an event listener failed", { error });
  return (event) => {
    if (!types.has(event.type)) return undefined;
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
  types: Types,
  after: Promise<void> | undefined,
  deliver: Deliver,
): Subscription {
  const held: GatewayEvent[] = [];
  let isHeld = after !== undefined;
  const onEvent = (event: GatewayEvent): void => {
    if (isHeld) held.push(event);
    else void deliver(event);
  };
  const stop = bus.on<EventType>([...types], onEvent, { filter: (event) => !event.session_key.startsWith("system:") });
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

interface FeedOptions extends Omit<SubscribeOptions, "types"> {
  readonly types: Types;
}

class SessionFeed implements Subscription {
  readonly joinedAt: Promise<number>;
  readonly caughtUp: Promise<void>;
  readonly #sources: FeedSources;
  readonly #sessionKey: string;
  readonly #fromSequence: number | undefined;
  readonly #deliver: Deliver;
  readonly #log: Logger;
  readonly #delivered = createDeliveredMessages();
  readonly #closing = new AbortController();
  readonly #stop: () => void;
  /** The last seq that was delivered, or not asked for; 0 until `#join` knows. */
  #cursor = 0;
  /** What came while the past was read. */
  #pending: StoredEvent[] = [];
  #isLive = false;

  constructor(sources: FeedSources, sessionKey: string, { fromSequence, after, types }: FeedOptions, deliver: Deliver) {
    this.#sources = sources;
    this.#sessionKey = sessionKey;
    this.#fromSequence = fromSequence;
    this.#deliver = deliver;
    this.#log = sources.log ?? silentLog;
    // Each stored event moves the feed on, whether it is told or not.
    const heard = typesWhere(({ stored }, type) => stored || types.has(type));
    this.#stop = sources.bus.on(heard, (event) => this.#onEvent(event), { sessionKey });
    this.joinedAt = this.#join();
    this.caughtUp = this.#follow(after);
    // Anyone who cares awaits it; nobody else is to be ended by it.
    for (const promise of [this.joinedAt, this.caughtUp]) promise.catch(() => {});
  }

  close(): void {
    this.#stop();
    this.#closing.abort();
    this.#pending = [];
  }

  #onEvent(event: GatewayEvent): void {
    if (!isStored(event)) {
      if (this.#isLive) void this.#deliver(event);
    } else if (this.#isLive && event.seq === this.#cursor + 1) {
      void this.#deliverStored(event);
    } else if (event.seq > this.#cursor) {
      this.#pending.push(event);
      if (this.#pending.length > maxPending) this.#pending.shift();
      if (this.#isLive) void this.#catchUpAgain(event.seq);
    }
  }

  #deliverStored(event: StoredEvent): Promise<void> | undefined {
    this.#cursor = event.seq;
    this.#delivered.note(event);
    return this.#deliver(event);
  }

  async #join(): Promise<number> {
    const last = await this.#sources.lastSequence(this.#sessionKey);
    if (this.#fromSequence === undefined) {
      // What was told meanwhile is new.
      this.#cursor = Math.min(last, (this.#pending[0]?.seq ?? Number.POSITIVE_INFINITY) - 1);
      return this.#cursor;
    }
    // A log that lost its unsynced tail in a power cut is behind what this client has seen.
    this.#cursor = Math.min(this.#fromSequence, last);
    return last;
  }

  async #follow(after: Promise<void> | undefined): Promise<void> {
    try {
      const last = await this.joinedAt;
      await after;
      await this.#catchUp(this.#cursor < last);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Reads on until nothing is missing before the oldest event held back, then tells those. */
  async #catchUp(isBehind: boolean): Promise<void> {
    let readOn = isBehind;
    let nothingAfter = -1;
    while (!this.#closing.signal.aborted) {
      this.#pending = this.#pending.filter((event) => event.seq > this.#cursor);
      const next = this.#pending[0];
      const isMissing = next !== undefined && next.seq > this.#cursor + 1;
      if (this.#cursor !== nothingAfter && (readOn || isMissing)) {
        const after = this.#cursor;
        readOn = await this.#readPage(after);
        if (this.#cursor === after) nothingAfter = after;
      } else if (next !== undefined) {
        this.#pending.shift();
        const slow = this.#deliverStored(next);
        if (slow !== undefined) await slow;
      } else {
        return this.#goLive();
      }
    }
  }

  /** Tells the next events of the log. Resolves with whether there are more. */
  async #readPage(afterSeq: number): Promise<boolean> {
    const page = await this.#sources.events(this.#sessionKey, { afterSeq, limit: pageSize });
    for (const event of page.events) {
      if (this.#closing.signal.aborted) return false;
      if (event.seq <= this.#cursor) continue;
      const slow = this.#deliverStored(event);
      if (slow !== undefined) await slow;
    }
    return page.hasMore;
  }

  /** In one go with the last look at `#pending`: the bus delivers synchronously, so no event can come in between. */
  #goLive(): void {
    this.#isLive = true;
    const snapshot = this.#sources.snapshots.snapshotOf(this.#sessionKey);
    if (snapshot === undefined || this.#delivered.isOver(snapshot.messageId, snapshot.turnId)) return;
    for (const event of snapshot.events) void this.#deliver(event);
  }

  async #catchUpAgain(seq: number): Promise<void> {
    this.#isLive = false;
    const { signal } = this.#closing;
    const sessionKey = this.#sessionKey;
    this.#log.warn("an event feed missed something and reads it from the log", { sessionKey, seq });
    while (!signal.aborted) {
      try {
        return await this.#catchUp(true);
      } catch (error) {
        this.#log.error("reading a session log for an event feed failed", { sessionKey, error: messageOf(error) });
        await sleep(readAgainMs, signal).catch(() => {});
      }
    }
  }
}

/** What was delivered from the log already, so that a snapshot does not repeat it. */
function createDeliveredMessages() {
  let storedMessageId: string | undefined;
  let endedTurnId: string | undefined;
  return {
    note(event: StoredEvent): void {
      if (event.type === "assistant_message") storedMessageId = event.payload.message_id;
      if (specOf(event.type).terminal) endedTurnId = event.turn_id;
    },
    /** The log was ahead of the bus: what the snapshot would say was delivered as a stored message. */
    isOver(messageId: string, turnId: string | undefined): boolean {
      return messageId === storedMessageId || (turnId !== undefined && turnId === endedTurnId);
    },
  };
}
