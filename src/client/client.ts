import type { GatewayEvent } from "../events/event.js";
import { type ConnectionState, openConnection, type RetryTiming, type SocketConstructor } from "./connection.js";
import { createFeed, createLooseFeed, type Feed } from "./feed.js";
import { type CommandFrame, parseFrame, type ServerFrame } from "./frames.js";

export interface ClientOptions {
  /** The gateway's WebSocket, e.g. `ws://127.0.0.1:18890/ws`. */
  readonly url: string;
  /** Needed when the gateway does not listen on loopback. Sent as the query parameter `token`. */
  readonly token?: string | undefined;
  /** Default: the global one. Node 20 has none: give that of `ws`. */
  readonly WebSocket?: SocketConstructor | undefined;
  /** Default: connect within 4 s, answers within 30 s, retries after 1 s × 1.5 up to 30 s. */
  readonly timing?: Partial<RetryTiming & { readonly commandTimeoutMs: number }> | undefined;
}

export interface SubscribeOptions {
  /** Only these types. Such a subscription waits for no gap to fill. */
  readonly types?: readonly string[] | undefined;
}

/** `lost` and `timeout` mean that nobody knows whether the command was carried out; `refused` that it was not. */
export class ClientError extends Error {
  readonly kind: "refused" | "lost" | "timeout" | "closed" | "busy";
  /** The gateway's code for a refused command. */
  readonly code: string;

  constructor(kind: ClientError["kind"], message: string, code = "") {
    super(message);
    this.name = "ClientError";
    this.kind = kind;
    this.code = code;
  }
}

type Undo = () => void;

/** A connection to the gateway that comes back by itself and then follows the same sessions from where it was. */
export interface Client {
  readonly state: ConnectionState;
  /**
   * Resolves with the response's data. A command given while the connection is away waits for it, within the same 30 s.
   *
   * @throws {ClientError} refused, connection lost before the answer, no answer in time, closed, or 1000 are waiting
   */
  command(type: string, payload: object): Promise<unknown>;
  /**
   * Calls `onEvent` with each event after `fromSequence`: stored ones in seq order, none twice, none left out, also over
   * cuts. `key` is a session key, `*` (all sessions, live only) or `system`. One subscription per key.
   */
  subscribe(
    key: string,
    fromSequence: number,
    onEvent: (event: GatewayEvent) => void,
    options?: SubscribeOptions,
  ): Undo;
  onOpen(listener: () => void): Undo;
  /** `retryInMs` is absent after `close`. */
  onClose(listener: (info: { readonly retryInMs?: number }) => void): Undo;
  onError(listener: (error: Error) => void): Undo;
  /** Connects at once instead of waiting for the next attempt. */
  retryNow(): void;
  close(): void;
}

interface Waiting {
  readonly frame: string;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ClientError) => void;
  readonly timer: ReturnType<typeof setTimeout>;
  isSent: boolean;
}

interface Subscription {
  readonly feed: Feed;
  readonly types: readonly string[] | undefined;
}

const maxWaiting = 1000;

export function createClient(options: ClientOptions): Client {
  const timing = {
    connectTimeoutMs: 4000,
    commandTimeoutMs: 30_000,
    retryMinMs: 1000,
    retryMaxMs: 30_000,
    ...options.timing,
  };
  const listeners = {
    open: new Set<() => void>(),
    close: new Set<(info: { readonly retryInMs?: number }) => void>(),
    error: new Set<(error: Error) => void>(),
  };
  const waiting = new Map<string, Waiting>();
  const subscriptions = new Map<string, Subscription>();
  let nextId = 1;
  let heardAt = 0;
  let isClosed = false;

  const connection = openConnection(socketUrl(options), options.WebSocket ?? globalSocket(), timing, {
    onOpen() {
      for (const [key, subscription] of subscriptions) {
        subscription.feed.reset();
        follow(key, subscription);
      }
      for (const entry of waiting.values()) if (!entry.isSent) entry.isSent = connection.send(entry.frame);
      for (const listener of listeners.open) listener();
    },
    onText: hear,
    onClose(info) {
      for (const [id, entry] of waiting) {
        if (entry.isSent) settle(id)?.reject(new ClientError("lost", "The connection was lost before the answer"));
      }
      for (const listener of listeners.close) listener(info);
    },
    onError: report,
  });

  function report(error: Error): void {
    for (const listener of listeners.error) listener(error);
  }

  function hear(text: string): void {
    heardAt = Date.now();
    const frame = parseFrame(text);
    if (frame === undefined) report(new Error("The gateway sent something that is no frame"));
    else if (frame.type === "event") dispatch(frame.event);
    else answer(frame);
  }

  function answer(frame: Extract<ServerFrame, { type: "response" }>): void {
    const entry = settle(frame.id);
    if (frame.success) entry?.resolve(frame.data);
    else entry?.reject(new ClientError("refused", frame.error, frame.code));
  }

  function dispatch(event: GatewayEvent): void {
    for (const [key, { feed, types }] of subscriptions) {
      if (types !== undefined && !types.includes(event.type)) continue;
      const isSystem = event.session_key.startsWith("system:");
      if (key === event.session_key || (key === "*" && !isSystem) || (key === "system" && isSystem)) feed.accept(event);
    }
  }

  function settle(id: string): Waiting | undefined {
    const entry = waiting.get(id);
    waiting.delete(id);
    clearTimeout(entry?.timer);
    return entry;
  }

  function command(type: string, payload: object): Promise<unknown> {
    if (isClosed) return Promise.reject(new ClientError("closed", "The client is closed"));
    if (waiting.size >= maxWaiting) return Promise.reject(new ClientError("busy", "Too many commands are waiting"));
    const id = `c${nextId++}`;
    const timestamp = new Date().toISOString();
    const frame: CommandFrame = { type: "command", id, command: { type, payload }, timestamp, source: "client" };
    return new Promise((resolve, reject) => {
      const sentAt = Date.now();
      const timer = setTimeout(() => {
        const seconds = timing.commandTimeoutMs / 1000;
        settle(id)?.reject(new ClientError("timeout", `The gateway did not answer within ${seconds} s`));
        // Not a word in all that time: the connection is most likely dead without having been closed.
        if (heardAt < sentAt) connection.cut("The gateway stopped answering");
      }, timing.commandTimeoutMs);
      const entry: Waiting = { frame: JSON.stringify(frame), resolve, reject, timer, isSent: false };
      waiting.set(id, entry);
      entry.isSent = connection.send(entry.frame);
    });
  }

  function follow(key: string, { feed, types }: Subscription): void {
    const payload = { session_key: key, from_sequence: feed.lastSequence, ...(types && { types }) };
    command("events_subscribe", payload).catch((error: ClientError) => {
      // After a loss the next opening subscribes again; only an answer of the gateway is news.
      if (error.kind === "refused" || error.kind === "timeout") report(error);
    });
  }

  return {
    get state() {
      return connection.state;
    },
    command,
    subscribe(key, fromSequence, onEvent, { types } = {}) {
      if (subscriptions.has(key)) throw new Error(`There is a subscription for ${key} already`);
      const isLoose = key === "*" || key === "system" || types !== undefined;
      const feed = (isLoose ? createLooseFeed : createFeed)(fromSequence, onEvent);
      const subscription = { feed, types };
      subscriptions.set(key, subscription);
      if (connection.state === "open") follow(key, subscription);
      return () => {
        if (subscriptions.get(key) !== subscription) return;
        subscriptions.delete(key);
        feed.reset();
        if (connection.state === "open") command("events_unsubscribe", { session_key: key }).catch(() => undefined);
      };
    },
    onOpen: (listener) => add(listeners.open, listener),
    onClose: (listener) => add(listeners.close, listener),
    onError: (listener) => add(listeners.error, listener),
    retryNow: () => connection.retryNow(),
    close() {
      isClosed = true;
      for (const id of [...waiting.keys()]) settle(id)?.reject(new ClientError("closed", "The client was closed"));
      for (const { feed } of subscriptions.values()) feed.reset();
      subscriptions.clear();
      connection.close();
    },
  };
}

function add<T>(set: Set<T>, item: T): Undo {
  set.add(item);
  return () => {
    set.delete(item);
  };
}

function socketUrl({ url, token }: ClientOptions): string {
  if (token === undefined || token === "") return url;
  const target = new URL(url);
  target.searchParams.set("token", token);
  return target.href;
}

function globalSocket(): SocketConstructor {
  if (typeof globalThis.WebSocket !== "function") {
    throw new Error("There is no WebSocket here: give createClient one, e.g. that of the package ws");
  }
  return globalThis.WebSocket;
}
