import type { Logger } from "../../log.js";
import type { EventType } from "../catalogue.js";
import type { EventOf, GatewayEvent } from "../event.js";
import { type CommandAsker, Commands, type CommandTaker } from "./commands.js";
import { type Listener, type SubscribeOptions, Subscribers } from "./subscribers.js";

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
  /** Called for the first event of these types that passes the filter. */
  once<T extends EventType>(
    types: T | readonly T[],
    listener: (event: EventsOf<T>) => void,
    options?: SubscribeOptions,
  ): Unsubscribe;
  onAny(listener: (event: GatewayEvent) => void, options?: SubscribeOptions): Unsubscribe;
}

/** The emitting verb, and what spares a producer events for nobody. */
export interface EventProducer {
  /** Delivers before it returns, or, when called by a subscriber, right after the event that is being delivered. */
  emit(event: GatewayEvent): void;
  /** Whether somebody listens to this who is not patient. */
  isAwaited(type: EventType, sessionKey: string): boolean;
  /**
   * Calls back before somebody who is not patient begins to listen to one of these types, of one session or (undefined)
   * of all: what is emitted then, they do not get. Returns the undo.
   */
  beforeListening(types: readonly EventType[], onListening: (sessionKey: string | undefined) => void): Unsubscribe;
}

/**
 * The whole process's events, and the commands that clients send. Only the composition root holds the bus; parts get the
 * view that they need: anyone who listens cannot emit, and anyone who emits cannot listen.
 */
export interface SystemBus<C> extends CommandAsker<C>, CommandTaker<C> {
  /** An object that can only listen. */
  asConsumer(): EventConsumer;
  /** An object that can only emit. */
  asProducer(): EventProducer;
  /** Drops all subscribers and handlers; from then on nothing is delivered, and every request is refused. */
  destroy(): void;
}

/** `C`: what the commands are answered with, by their names. */
export function createSystemBus<C = Record<never, never>>({ log }: { readonly log: Logger }): SystemBus<C> {
  const subscribers = new Subscribers(log);
  const commands = new Commands<C>();
  const consumer = consumerOf(subscribers);
  const producer = Object.freeze({
    emit: (event) => subscribers.deliver(event),
    isAwaited: (type, sessionKey) => subscribers.isAwaited(type, sessionKey),
    beforeListening: (types, onListening) => subscribers.watch({ types, onListening }),
  } satisfies EventProducer);
  return {
    request: (command, params) => commands.request(command, params),
    handle: (command, handler) => commands.handle(command, handler),
    asConsumer: () => consumer,
    asProducer: () => producer,
    destroy() {
      subscribers.close();
      commands.close();
    },
  };
}

function consumerOf(subscribers: Subscribers): EventConsumer {
  const setOf = <T extends EventType>(types: T | readonly T[]): ReadonlySet<T> =>
    new Set(typeof types === "string" ? [types] : types);
  return Object.freeze({
    // The set lets through only events of the types that the listener takes.
    on: (types, listener, options) => subscribers.add(setOf(types), listener as Listener, options),
    once(types, listener, options) {
      const undo = subscribers.add(
        setOf(types),
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
