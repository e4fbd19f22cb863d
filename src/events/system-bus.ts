import type { Logger } from "../log.js";
import type { EventType } from "./catalogue.js";
import { type BusCommand, createCommands } from "./commands.js";
import type { EventOf, GatewayEvent } from "./event.js";

export interface SubscribeOptions {
  readonly filter?: (event: GatewayEvent) => boolean;
  /** Higher ones are called first. Default 0. */
  readonly priority?: number;
}

export type Unsubscribe = () => void;

/** Any event of these types. Distributive, so that switching on `type` narrows `payload`. */
export type EventsOf<T extends EventType> = { [K in T]: EventOf<K> }[T];

/**
 * The listening verbs. A subscriber that throws is logged and delays nobody. Every subscriber gets the events in the
 * order of emitting; one that is added or undone while an event is delivered does not get that event any more.
 */
export interface EventConsumer {
  on<T extends EventType>(
    types: T | readonly T[],
    listener: (event: EventsOf<T>) => void,
    options?: SubscribeOptions,
  ): Unsubscribe;
  /** Called for the first event that passes the filter. */
  once<T extends EventType>(type: T, listener: (event: EventOf<T>) => void, options?: SubscribeOptions): Unsubscribe;
  onAny(listener: (event: GatewayEvent) => void, options?: SubscribeOptions): Unsubscribe;
}

/** The emitting verbs. */
export interface EventProducer {
  /** Delivers before it returns, or, when called by a subscriber, right after the event that is being delivered. */
  emit(event: GatewayEvent): void;
  emitBatch(events: readonly GatewayEvent[]): void;
}

/** The whole process's events. Parts get a view of it; only the composition root holds the bus itself. */
export interface SystemBus extends EventConsumer, EventProducer {
  /**
   * Resolves with what the handler answers, or rejects with what it throws. `timeoutMs`: default 30000.
   *
   * @throws {RequestError} 404 when nobody handles the type, 504 without an answer in time, 503 after `destroy`
   */
  request(command: BusCommand, timeoutMs?: number): Promise<unknown>;
  /** Answers the commands of one type. There is one handler per type. */
  handle(commandType: string, handler: (command: BusCommand) => unknown): Unsubscribe;
  /** Drops all subscribers and handlers; from then on every verb does nothing. */
  destroy(): void;
  /** An object that can only listen. */
  asConsumer(): EventConsumer;
  /** An object that can only emit. */
  asProducer(): EventProducer;
}

type Listener = (event: GatewayEvent) => unknown;

interface Subscription {
  /** Undefined: all. */
  readonly types: ReadonlySet<EventType> | undefined;
  readonly listener: Listener;
  readonly filter: ((event: GatewayEvent) => boolean) | undefined;
  readonly priority: number;
  isActive: boolean;
}

const nobody: readonly Subscription[] = [];

export function createSystemBus({ log }: { readonly log: Logger }): SystemBus {
  /** By falling priority, then in order of subscribing. */
  let subscriptions: readonly Subscription[] = nobody;
  /** Who gets which type; emptied whenever the subscriptions change. */
  const routes = new Map<EventType, readonly Subscription[]>();
  const waiting: GatewayEvent[] = [];
  let isDelivering = false;
  let isDestroyed = false;
  const commands = createCommands();

  const setSubscriptions = (next: readonly Subscription[]): void => {
    subscriptions = next;
    routes.clear();
  };

  const routeOf = (type: EventType): readonly Subscription[] => {
    let route = routes.get(type);
    if (route === undefined) {
      route = subscriptions.filter((subscription) => subscription.types?.has(type) ?? true);
      routes.set(type, route);
    }
    return route;
  };

  const subscribe = (
    types: ReadonlySet<EventType> | undefined,
    listener: Listener,
    { filter, priority = 0 }: SubscribeOptions = {},
  ): Unsubscribe => {
    if (isDestroyed) return () => {};
    const subscription: Subscription = { types, listener, filter, priority, isActive: true };
    setSubscriptions([...subscriptions, subscription].sort((a, b) => b.priority - a.priority));
    return () => {
      if (!subscription.isActive) return;
      subscription.isActive = false;
      setSubscriptions(subscriptions.filter((other) => other !== subscription));
    };
  };

  const deliver = (event: GatewayEvent): void => {
    for (const subscription of routeOf(event.type)) {
      if (!subscription.isActive) continue;
      const onFault = (error: unknown): void =>
        log.error("A subscriber failed", { event: event.type, event_id: event.event_id, error });
      try {
        if (subscription.filter !== undefined && !subscription.filter(event)) continue;
        const result = subscription.listener(event);
        if (result instanceof Promise) result.catch(onFault);
      } catch (error) {
        onFault(error);
      }
    }
  };

  const emitBatch = (events: readonly GatewayEvent[]): void => {
    if (isDestroyed || subscriptions.length === 0) return;
    if (isDelivering) {
      waiting.push(...events);
      return;
    }
    isDelivering = true;
    try {
      for (const event of events) {
        deliver(event);
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) deliver(next);
      }
    } finally {
      isDelivering = false;
    }
  };

  const consumer: EventConsumer = Object.freeze({
    on<T extends EventType>(
      types: T | readonly T[],
      listener: (event: EventsOf<T>) => void,
      options?: SubscribeOptions,
    ): Unsubscribe {
      // The set lets through only events of the types that the listener takes.
      return subscribe(new Set(typeof types === "string" ? [types] : types), listener as Listener, options);
    },
    once<T extends EventType>(type: T, listener: (event: EventOf<T>) => void, options?: SubscribeOptions): Unsubscribe {
      const undo = subscribe(
        new Set([type]),
        (event) => {
          undo();
          // As above.
          return (listener as Listener)(event);
        },
        options,
      );
      return undo;
    },
    onAny: (listener, options) => subscribe(undefined, listener, options),
  } satisfies EventConsumer);
  const producer: EventProducer = Object.freeze({ emit: (event: GatewayEvent) => emitBatch([event]), emitBatch });

  return {
    ...consumer,
    ...producer,
    request: commands.request,
    handle: commands.handle,
    destroy() {
      isDestroyed = true;
      for (const subscription of subscriptions) subscription.isActive = false;
      setSubscriptions(nobody);
      waiting.length = 0;
      commands.close();
    },
    asConsumer: () => consumer,
    asProducer: () => producer,
  };
}
