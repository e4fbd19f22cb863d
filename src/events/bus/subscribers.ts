import type { Logger } from "../../log.js";
import type { EventType } from "../catalogue.js";
import type { GatewayEvent } from "../event.js";

export interface SubscribeOptions {
  /** Only events of this session; the others cost this subscriber nothing. Default: all sessions. */
  readonly sessionKey?: string | undefined;
  readonly filter?: ((event: GatewayEvent) => boolean) | undefined;
  /** Higher ones are called first. Default 0. */
  readonly priority?: number;
  /** Pieces of an answer may come to it later and joined, where nobody else waits for them. */
  readonly isPatient?: boolean;
}

export type Listener = (event: GatewayEvent) => unknown;

interface Subscription {
  /** Undefined: all. */
  readonly types: ReadonlySet<EventType> | undefined;
  readonly listener: Listener;
  readonly filter: SubscribeOptions["filter"];
  readonly priority: number;
  readonly isPatient: boolean;
  /** Counts the subscriptions. */
  readonly order: number;
  isActive: boolean;
}

interface Route {
  readonly subscriptions: readonly Subscription[];
  /** One of them is not patient. */
  readonly isAwaited: boolean;
}

interface Watcher {
  readonly types: readonly EventType[];
  readonly onListening: (sessionKey: string | undefined) => void;
}

/** The subscriptions of one session, or those to all sessions. By falling priority, then in order of subscribing. */
class Group {
  subscriptions: readonly Subscription[] = [];
  /** Who gets which type; emptied whenever one of its subscriptions changes. */
  readonly routes = new Map<EventType, Route>();

  set(subscriptions: readonly Subscription[]): void {
    this.subscriptions = subscriptions;
    this.routes.clear();
  }
}

/** Who listens to what. */
export class Subscribers {
  readonly #log: Logger;
  readonly #toAll = new Group();
  readonly #ofSession = new Map<string, Group>();
  /** Events that were emitted while another one is delivered. */
  readonly #waiting: GatewayEvent[] = [];
  readonly #watchers = new Set<Watcher>();
  #added = 0;
  #isDelivering = false;
  #isClosed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Returns the undo. */
  add(types: ReadonlySet<EventType> | undefined, listener: Listener, options: SubscribeOptions = {}): () => void {
    if (this.#isClosed) return () => {};
    const { sessionKey, filter, priority = 0, isPatient = false } = options;
    if (!isPatient) this.#tellWatchers(types, sessionKey);
    const order = this.#added++;
    const subscription: Subscription = { types, listener, filter, priority, isPatient, order, isActive: true };
    const group = this.#groupOf(sessionKey);
    this.#set(group, inOrder([...group.subscriptions, subscription]));
    return () => {
      if (!subscription.isActive) return;
      subscription.isActive = false;
      this.#set(
        group,
        group.subscriptions.filter((other) => other !== subscription),
      );
      if (sessionKey !== undefined && group.subscriptions.length === 0) this.#ofSession.delete(sessionKey);
    };
  }

  isAwaited(type: EventType, sessionKey: string): boolean {
    return this.#routeOf(type, sessionKey).isAwaited;
  }

  /** Returns the undo. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Delivers before it returns, or, when called by a subscriber, right after the event that is being delivered. */
  deliver(event: GatewayEvent): void {
    if (this.#isClosed) return;
    if (this.#isDelivering) {
      this.#waiting.push(event);
      return;
    }
    this.#isDelivering = true;
    try {
      this.#deliverOne(event);
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) this.#deliverOne(next);
    } finally {
      this.#isDelivering = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const group of [this.#toAll, ...this.#ofSession.values()]) {
      for (const subscription of group.subscriptions) subscription.isActive = false;
      group.set([]);
    }
    this.#ofSession.clear();
    this.#watchers.clear();
    this.#waiting.length = 0;
  }

  #groupOf(sessionKey: string | undefined): Group {
    if (sessionKey === undefined) return this.#toAll;
    const group = this.#ofSession.get(sessionKey) ?? new Group();
    this.#ofSession.set(sessionKey, group);
    return group;
  }

  #set(group: Group, subscriptions: readonly Subscription[]): void {
    group.set(subscriptions);
    // Their routes lead also to those who listen to all.
    if (group === this.#toAll) for (const { routes } of this.#ofSession.values()) routes.clear();
  }

  #tellWatchers(types: ReadonlySet<EventType> | undefined, sessionKey: string | undefined): void {
    for (const watcher of this.#watchers)
      if (types === undefined || watcher.types.some((type) => types.has(type))) watcher.onListening(sessionKey);
  }

  #routeOf(type: EventType, sessionKey: string): Route {
    const toAll = routeIn(this.#toAll, type, toRoute);
    const group = this.#ofSession.get(sessionKey);
    if (group === undefined) return toAll;
    // A session's own listeners come and go with its turns, and want few types.
    return routeIn(group, type, (own) => (own.length === 0 ? toAll : toRoute([...toAll.subscriptions, ...own])));
  }

  #deliverOne(event: GatewayEvent): void {
    for (const subscription of this.#routeOf(event.type, event.session_key).subscriptions) {
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

function routeIn(group: Group, type: EventType, make: (own: Subscription[]) => Route): Route {
  const known = group.routes.get(type);
  if (known !== undefined) return known;
  const route = make(group.subscriptions.filter(({ types }) => types?.has(type) ?? true));
  group.routes.set(type, route);
  return route;
}

function toRoute(subscriptions: Subscription[]): Route {
  return { subscriptions: inOrder(subscriptions), isAwaited: subscriptions.some(({ isPatient }) => !isPatient) };
}

function inOrder(subscriptions: Subscription[]): Subscription[] {
  return subscriptions.sort((a, b) => b.priority - a.priority || a.order - b.order);
}
