import type { GatewayEvent, StoredEvent } from "../../events/event.js";

export interface SubscribeOptions {
  /** Events after this seq come first. Without it: from now on. */
  readonly fromSequence?: number | undefined;
  /** Only these types. */
  readonly types?: readonly string[] | undefined;
  /** Nothing is told before it resolves; what happens meanwhile is told then. */
  readonly after?: Promise<void> | undefined;
}

/** Follows one session, `*` (all chats, live only) or `system`. */
export interface Subscription {
  /** Resolves with the session's last seq at the moment of joining; undefined for `*`. */
  readonly joinedAt: Promise<number | undefined>;
  /** Resolves once the past up to the moment of joining has been delivered. */
  readonly caughtUp: Promise<void>;
  close(): void;
}

/** What has happened, and what happens. */
export interface EventsApi {
  /** Events with seq > fromSequence. */
  events(
    key: string,
    range: { readonly fromSequence: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }>;
  /**
   * Calls `listener` with each event of the session after `fromSequence`, stored ones in seq order without a gap or a
   * repeat, then live. In the middle of a streamed answer it first gets message_stream_start and one text_delta with
   * the text so far. Internal events are left out. A promise that the listener returns is awaited while the past is
   * replayed, so that a slow reader is not flooded; live events never wait.
   *
   * @throws {RequestError} 400 for what is not a session key
   */
  subscribe(
    target: string,
    options: SubscribeOptions,
    listener: (event: GatewayEvent) => void | Promise<void>,
  ): Subscription;
}
