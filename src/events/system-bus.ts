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
  const subscribers = new Subscribers(log);
  const commands = createCommands();
  const consumer = consumerOf(subscribers);
  const producer: EventProducer = Object.freeze({
    emit: (event: GatewayEvent) => subscribers.deliver([event]),
    emitBatch: (events: readonly GatewayEvent[]) => subscribers.deliver(events),
  });
  return {
    ...consumer,
    ...producer,
    request: commands.request,
    handle: commands.handle,
    destroy() {
      subscribers.close();
      commands.close();
    },
    asConsumer: () => consumer,
    asProducer: () => producer,
  };
}

function consumerOf(subscribers: Subscribers): EventConsumer {
  return Object.freeze({
    on<T extends EventType>(
      types: T | readonly T[],
      listener: (event: EventsOf<T>) => void,
      options?: SubscribeOptions,
    ): Unsubscribe {
      // The set lets through only events of the types that the listener takes.
      return subscribers.add(new Set(typeof types === "string" ? [types] : types), listener as Listener, options);
    },
    once<T extends EventType>(type: T, listener: (event: EventOf<T>) => void, options?: SubscribeOptions): Unsubscribe {
      const undo = subscribers.add(
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
    onAny: (listener, options) => subscribers.add(undefined, listener, options),
  } satisfies EventConsumer);
}

/** Who listens to what. */
class Subscribers {
  readonly #log: Logger;
  /** By falling priority, then in order of subscribing. */
  #subscriptions: readonly Subscription[] = nobody;
  /** Who gets which type; emptied whenever the subscriptions change. */
  readonly #routes = new Map<EventType, readonly Subscription[]>();
  /** Events that were emitted while another one is delivered. */
  readonly #waiting: GatewayEvent[] = [];
  #isDelivering = false;
  #isClosed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(
    types: ReadonlySet<EventType> | undefined,
    listener: Listener,
    { filter, priority = 0 }: SubscribeOptions = {},
  ): Unsubscribe {
    if (this.#isClosed) return () => {};
    const subscription: Subscription = { types, listener, filter, priority, isActive: true };
    this.#set([...this.#subscriptions, subscription].sort((a, b) => b.priority - a.priority));
    return () => {
      if (!subscription.isActive) return;
      subscription.isActive = false;
      this.#set(this.#subscriptions.filter((other) => other !== subscription));
    };
  }

  deliver(events: readonly GatewayEvent[]): void {
    if (this.#isClosed || this.#subscriptions.length === 0) return;
    if (this.#isDelivering) {
      this.#waiting.push(...events);
      return;
    }
    this.#isDelivering = true;
    try {
      for (const event of events) {
        this.#deliverOne(event);
        for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#deliverOne(next);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const subscription of this.#subscriptions) subscription.isActive = false;
    this.#set(nobody);
    this.#waiting.length = 0;
  }

  #set(next: readonly Subscription[]): void {
    this.#subscriptions = next;
    this.#routes.clear();
  }

  #routeOf(type: EventType): readonly Subscription[] {
    let route = this.#routes.get(type);
    if (route === undefined) {
      route = this.#subscriptions.filter((subscription) => subscription.types?.has(type) ?? true);
      this.#routes.set(type, route);
    }
    return route;
  }

  #deliverOne(event: GatewayEvent): void {
    for (const subscription of this.#routeOf(event.type)) {
      if (!subscription.isActive) continue;
      try {
        if (subscription.filter !== undefined && !subscription.filter(event)) continue;
        const result = subscription.listener(event);
        if (result instanceof Promise) result.catch((error: unknown) => this.#reportFault(event, error));
      } catch (error) {
        this.#reportFault(event, error);
      }
    }
  }

  #reportFault(event: GatewayEvent, error: unknown): void {
    this.#log.error("A subscriber failed", { event: event.type, event_id: event.event_id, error });
  }
}
