import type { EventType } from "../events/catalogue.js";
import type { EventOf, GatewayEvent } from "../events/event.js";
import type { ClientError } from "./client-error.js";
import { isRecord } from "./frames.js";

/** Any event of these types, so that switching on `type` narrows `payload`. */
export type EventsOf<T extends EventType> = { [K in T]: EventOf<K> }[T];

export interface SubscribeOptions<T extends EventType = EventType> {
  /** Stored events after this seq come first; 0: all of them. Without it: from now on. */
  readonly fromSequence?: number | undefined;
  /** Only these types. */
  readonly types?: readonly T[] | undefined;
  /**
   * Called when the gateway's log ends before what was told already, as after a power cut: what came after
   * `lastSequence` never happened, and its numbers are given out again.
   */
  readonly onRewind?: ((lastSequence: number) => void) | undefined;
}

export type Undo = () => void;

/** What a client follows, over all its connections. */
export interface Subscriptions {
  add<T extends EventType>(key: string, onEvent: (event: EventsOf<T>) => void, options: SubscribeOptions<T>): Undo;
  /** A connection has opened: asks for everything again, from the last event seen. */
  followAll(): void;
  dispatch(event: GatewayEvent): void;
  clear(): void;
}

/** The gateway's answer to a command: its data, or why there is none. Called before anything that came after it. */
export type OnAnswer = (data: unknown, error: ClientError | undefined) => void;

export interface SubscriptionPorts {
  readonly isOpen: () => boolean;
  request(type: string, payload: object, onAnswer: OnAnswer): void;
  report(error: Error): void;
  /** Runs a listener; what it throws holds up nobody. */
  call(listener: () => void): void;
}

interface Subscription {
  readonly key: string;
  readonly types: readonly string[] | undefined;
  readonly onEvent: (event: GatewayEvent) => void;
  readonly onRewind: ((lastSequence: number) => void) | undefined;
  /** The seq of the last stored event that was passed on. */
  last: number | undefined;
  /** The session's last seq when the gateway joined us: events up to it are the past. */
  joinedAt: number;
  /** The gateway has answered: what comes now is told in order and without a gap. What came before is not for us. */
  isFollowed: boolean;
}

export function createSubscriptions(ports: SubscriptionPorts): Subscriptions {
  const all = new Map<string, Subscription>();

  function follow(subscription: Subscription): void {
    const { key, last, types } = subscription;
    subscription.isFollowed = false;
    const payload = { session_key: key, from_sequence: last, types };
    ports.request("events_subscribe", payload, (data, error) => {
      if (all.get(key) !== subscription) return;
      if (error === undefined) begin(subscription, isRecord(data) ? data.last_sequence : undefined);
      // After a loss the next opening subscribes again; only an answer, or none, is news.
      else if (error.kind === "refused" || error.kind === "timeout") ports.report(error);
      if (error?.kind === "timeout" && ports.isOpen()) follow(subscription);
    });
  }

  function begin(subscription: Subscription, lastSequence: unknown): void {
    const { last, onRewind } = subscription;
    if (typeof lastSequence === "number") {
      subscription.joinedAt = lastSequence;
      subscription.last = Math.min(last ?? lastSequence, lastSequence);
      if (last !== undefined && lastSequence < last) ports.call(() => onRewind?.(lastSequence));
    }
    subscription.isFollowed = true;
  }

  /** What is told to a session's own subscription because it missed it is not news to `*`. */
  function isOld(event: GatewayEvent): boolean {
    const own = all.get(event.session_key);
    return own?.isFollowed === true && takes(own, event) && event.seq !== null && event.seq <= own.joinedAt;
  }

  return {
    add(key, onEvent, { fromSequence, types, onRewind }) {
      if (all.has(key)) throw new Error(`There is a subscription for ${key} already`);
      // The types let through only events that the listener takes.
      const listener = onEvent as (event: GatewayEvent) => void;
      const last = key === "*" ? undefined : fromSequence;
      const subscription = { key, types, onEvent: listener, onRewind, last, joinedAt: 0, isFollowed: false };
      all.set(key, subscription);
      if (ports.isOpen()) follow(subscription);
      return () => {
        if (all.get(key) !== subscription) return;
        all.delete(key);
        if (ports.isOpen()) ports.request("events_unsubscribe", { session_key: key }, () => undefined);
      };
    },
    followAll() {
      for (const subscription of all.values()) follow(subscription);
    },
    dispatch(event) {
      for (const subscription of all.values()) {
        if (!subscription.isFollowed || !takes(subscription, event)) continue;
        if (subscription.key === "*") {
          if (isOld(event)) continue;
        } else if (event.seq !== null) {
          if (event.seq <= (subscription.last ?? 0)) continue;
          subscription.last = event.seq;
        }
        ports.call(() => subscription.onEvent(event));
      }
    },
    clear() {
      all.clear();
    },
  };
}

function takes({ key, types }: Subscription, event: GatewayEvent): boolean {
  if (types?.includes(event.type) === false) return false;
  const isSystem = event.session_key.startsWith("system:");
  if (key === "*") return !isSystem;
  return key === "system" ? isSystem : key === event.session_key;
}
