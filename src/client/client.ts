import type { EventType } from "../events/catalogue.js";
import { ClientError } from "./client-error.js";
import { type Commands, createCommands } from "./commands.js";
import {
  type CloseInfo,
  type ConnectionState,
  openConnection,
  type RetryTiming,
  type SocketConstructor,
  type SocketLike,
} from "./connection.js";
import { type CommandFrame, parseFrame, type ServerFrame } from "./frames.js";
import {
  createSubscriptions,
  type EventsOf,
  type OnAnswer,
  type SubscribeOptions,
  type Undo,
} from "./subscriptions.js";
import { createUpload, type UploadedFile, type UploadOptions } from "./upload.js";

export type { EventType } from "../events/catalogue.js";
export type { EventOf, GatewayEvent, StoredEvent } from "../events/event.js";
export { ClientError } from "./client-error.js";
export type {
  Commands,
  ListSessions,
  OpenSession,
  SendMessage,
  SentMessage,
  SessionEntry,
  SessionStatus,
} from "./commands.js";
export type { CloseInfo, ConnectionState, SocketConstructor, SocketLike } from "./connection.js";
export type { ServerFrame } from "./frames.js";
export type { EventsOf, SubscribeOptions, Undo } from "./subscriptions.js";
export type { UploadedFile, UploadOptions } from "./upload.js";

export interface ClientTiming extends RetryTiming {
  readonly commandTimeoutMs: number;
  /** After so long without a word from the gateway it is asked whether it is still there. */
  readonly idleMs: number;
}

export interface ClientOptions {
  /**
   * Where the gateway is: `http://127.0.0.1:18890`, or its WebSocket, `ws://127.0.0.1:18890/ws`. A function is asked
   * before each attempt to connect, for a gateway whose address changes.
   */
  readonly url: string | (() => string | Promise<string>);
  /** Needed when the gateway has one. It travels in headers: of WebSockets as one of the names in `Sec-WebSocket-Protocol`. */
  readonly token?: string | undefined;
  /** Default: the global one, in Node that of the package `ws`. */
  readonly WebSocket?: SocketConstructor | undefined;
  /** Default: connect within 4 s, answers within 30 s, retries after 1 s × 1.5 up to 30 s, ask after 30 s of silence. */
  readonly timing?: Partial<ClientTiming> | undefined;
}

/**
 * A connection to the gateway that comes back by itself and then follows the same sessions from where it was. A listener
 * that throws holds up no other: its error is thrown again outside, as an uncaught one.
 */
export interface Client extends Commands {
  readonly state: ConnectionState;
  /**
   * Any command of the gateway. Resolves with the response's data. A command given while the connection is away waits for
   * it, within the same 30 s.
   *
   * @throws {ClientError} refused, connection lost before the answer, no answer in time, closed, or 1000 are waiting
   */
  command(type: string, payload: object): Promise<unknown>;
  /**
   * Brings a file to the gateway, for the `attachments` of a message.
   *
   * @throws {ClientError} `refused`: too large, no room on the disk; `lost`: nobody knows
   */
  upload(content: Blob | Uint8Array, filename: string, options?: UploadOptions): Promise<UploadedFile>;
  /**
   * Calls `onEvent` with each event after `fromSequence`: stored ones in seq order, none twice, none left out, also over
   * cuts. Who joins in the middle of an answer gets message_stream_start and its text so far as one delta; a repeated
   * message_stream_start begins the text of its message anew. `key` is a session key, `*` (all sessions, live only) or
   * `system` (the gateway's own events). One subscription per key.
   */
  subscribe<T extends EventType = EventType>(
    key: string,
    onEvent: (event: EventsOf<T>) => void,
    options?: SubscribeOptions<T>,
  ): Undo;
  onOpen(listener: () => void): Undo;
  onClose(listener: (info: CloseInfo) => void): Undo;
  onError(listener: (error: Error) => void): Undo;
  /** Called with every frame from the gateway, before its subscription or command is. */
  onMessage(listener: (frame: ServerFrame) => void): Undo;
  /** Connects at once instead of waiting for the next attempt. */
  retryNow(): void;
  /** For good: commands that wait are rejected, subscriptions end. */
  close(): void;
}

interface Waiting {
  readonly frame: string;
  readonly onAnswer: OnAnswer;
  readonly timer: ReturnType<typeof setTimeout>;
  /** Unix ms. */
  sentAt: number | undefined;
}

const maxWaiting = 1000;
/** Commands without an answer yet; the gateway takes 64 of a connection at once. */
const maxUnanswered = 32;

export function createClient(options: ClientOptions): Client {
  const timing: ClientTiming = {
    connectTimeoutMs: 4000,
    commandTimeoutMs: 30_000,
    idleMs: 30_000,
    retryMinMs: 1000,
    retryMaxMs: 30_000,
    ...options.timing,
  };
  const listeners = {
    open: new Set<() => void>(),
    close: new Set<(info: CloseInfo) => void>(),
    error: new Set<(error: Error) => void>(),
    message: new Set<(frame: ServerFrame) => void>(),
  };
  const waiting = new Map<string, Waiting>();
  let nextId = 1;
  let unanswered = 0;
  let heardAt = 0;
  let isClosed = false;
  let idleTimer: ReturnType<typeof setInterval> | undefined;

  const subscriptions = createSubscriptions({ isOpen: () => connection.state === "open", request, report, call });
  const connection = openConnection(addressOf(options), opener(options), timing, {
    onOpen() {
      watch();
      subscriptions.followAll();
      sendWaiting();
      for (const listener of listeners.open) call(listener);
    },
    onText: hear,
    onClose(info) {
      clearInterval(idleTimer);
      for (const [id, entry] of waiting) {
        if (entry.sentAt !== undefined)
          settle(id)?.(undefined, new ClientError("lost", "The connection was lost before the answer"));
      }
      for (const listener of listeners.close) call(() => listener(info));
    },
    onError: report,
  });

  function report(error: Error): void {
    for (const listener of listeners.error) call(() => listener(error));
  }

  function hear(text: string): void {
    heardAt = Date.now();
    const frame = parseFrame(text);
    if (frame === undefined) {
      report(new Error("The gateway sent something that is no frame"));
      return;
    }
    for (const listener of listeners.message) call(() => listener(frame));
    if (frame.type === "event") subscriptions.dispatch(frame.event);
    else answer(frame);
  }

  function answer(frame: Extract<ServerFrame, { type: "response" }>): void {
    const onAnswer = settle(frame.id);
    sendWaiting();
    if (frame.success) onAnswer?.(frame.data, undefined);
    else onAnswer?.(undefined, new ClientError("refused", frame.error, frame.code));
  }

  /** A connection can be dead without having been closed, and a browser is not told of the gateway's pings. */
  function watch(): void {
    const openedAt = Date.now();
    clearInterval(idleTimer);
    idleTimer = setInterval(() => {
      if (Date.now() - Math.max(heardAt, openedAt) >= timing.idleMs) request("ping", {}, () => undefined);
    }, timing.idleMs / 2);
  }

  function settle(id: string): OnAnswer | undefined {
    const entry = waiting.get(id);
    waiting.delete(id);
    clearTimeout(entry?.timer);
    if (entry?.sentAt !== undefined) unanswered -= 1;
    return entry?.onAnswer;
  }

  function sendWaiting(): void {
    for (const entry of waiting.values()) {
      if (entry.sentAt !== undefined) continue;
      if (unanswered >= maxUnanswered || !connection.send(entry.frame)) return;
      entry.sentAt = Date.now();
      unanswered += 1;
    }
  }

  function request(type: string, payload: object, onAnswer: OnAnswer): void {
    if (isClosed || waiting.size >= maxWaiting) {
      const error = isClosed
        ? new ClientError("closed", "The client is closed")
        : new ClientError("busy", "Too many commands are waiting");
      onAnswer(undefined, error);
      return;
    }
    const id = `c${nextId++}`;
    const timestamp = new Date().toISOString();
    const frame: CommandFrame = { type: "command", id, command: { type, payload }, timestamp, source: "client" };
    const timer = setTimeout(() => giveUp(id), timing.commandTimeoutMs);
    waiting.set(id, { frame: JSON.stringify(frame), onAnswer, timer, sentAt: undefined });
    sendWaiting();
  }

  function giveUp(id: string): void {
    const { sentAt = Number.POSITIVE_INFINITY } = waiting.get(id) ?? {};
    const seconds = timing.commandTimeoutMs / 1000;
    settle(id)?.(undefined, new ClientError("timeout", `The gateway did not answer within ${seconds} s`));
    sendWaiting();
    // Not a word in a long time: the connection is most likely dead without having been closed.
    const isSilent = heardAt < sentAt && sentAt <= Date.now() - timing.commandTimeoutMs / 2;
    if (isSilent) connection.cut("The gateway stopped answering");
  }

  function command(type: string, payload: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      request(type, payload, (data, error) => (error === undefined ? resolve(data) : reject(error)));
    });
  }

  return {
    ...createCommands(command),
    get state() {
      return connection.state;
    },
    command,
    upload: createUpload(options),
    subscribe: (key, onEvent, subscribeOptions = {}) => subscriptions.add(key, onEvent, subscribeOptions),
    onOpen: (listener) => add(listeners.open, listener),
    onClose: (listener) => add(listeners.close, listener),
    onError: (listener) => add(listeners.error, listener),
    onMessage: (listener) => add(listeners.message, listener),
    retryNow: () => connection.retryNow(),
    close() {
      isClosed = true;
      clearInterval(idleTimer);
      subscriptions.clear();
      for (const id of [...waiting.keys()])
        settle(id)?.(undefined, new ClientError("closed", "The client was closed before the answer"));
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

function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function addressOf({ url }: ClientOptions): () => Promise<string> {
  return async () => {
    const target = new URL(typeof url === "string" ? url : await url());
    if (/^https?:$/.test(target.protocol)) {
      target.protocol = target.protocol === "https:" ? "wss:" : "ws:";
      if (!target.pathname.endsWith("/")) target.pathname += "/";
      target.pathname += "ws";
    }
    return target.href;
  };
}

/** An address gets into histories and logs, and browsers let nobody set a header: so the token is the name of a protocol. */
function opener({ WebSocket: Socket = globalSocket(), token = "" }: ClientOptions): (url: string) => SocketLike {
  if (token === "") return (url) => new Socket(url);
  const bytes = String.fromCharCode(...new TextEncoder().encode(token));
  const name = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return (url) => new Socket(url, ["maxclaw", `maxclaw.token.${name}`]);
}

function globalSocket(): SocketConstructor {
  if (typeof globalThis.WebSocket !== "function") {
    throw new Error("There is no WebSocket here: give createClient one, e.g. that of the package ws");
  }
  return globalThis.WebSocket;
}
