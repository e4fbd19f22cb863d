import type { EventType } from "../events/catalogue.js";
import { type Commands, createCommands } from "./commands.js";
import {
  type CloseInfo,
  type ConnectionState,
  openConnection,
  type SocketConstructor,
  type SocketLike,
} from "./connection.js";
import { parseFrame, type ServerFrame } from "./frames.js";
import { call, Listeners } from "./listeners.js";
import { Requests } from "./requests.js";
import { createSubscriptions, type EventsOf, type SubscribeOptions, type Undo } from "./subscriptions.js";
import type { ClientTiming } from "./timing.js";
import { createUpload, type UploadedFile, type UploadOptions } from "./upload.js";

export type { EventType } from "../events/catalogue.js";
export type { EventOf, GatewayEvent, StoredEvent } from "../events/event.js";
export { ClientError } from "./client-error.js";
export type {
  Commands,
  ListSessions,
  OpenSession,
  SearchHit,
  SearchPage,
  SearchSessions,
  SendMessage,
  SentMessage,
  SessionEntry,
  SessionMarks,
  SessionStatus,
} from "./commands.js";
export type { CloseInfo, ConnectionState, SocketConstructor, SocketLike } from "./connection.js";
export type { ServerFrame } from "./frames.js";
export type { EventsOf, SubscribeOptions, Undo } from "./subscriptions.js";
export type { ClientTiming } from "./timing.js";
export type { UploadedFile, UploadOptions } from "./upload.js";

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
   * message_stream_start begins the text of its message again. `key` is a session key, `*` (all sessions, live only) or
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

const defaultTiming: ClientTiming = {
  connectTimeoutMs: 4000,
  commandTimeoutMs: 30_000,
  idleMs: 30_000,
  retryMinMs: 1000,
  retryMaxMs: 30_000,
};

export function createClient(options: ClientOptions): Client {
  const timing: ClientTiming = { ...defaultTiming, ...options.timing };
  const opened = new Listeners<[]>();
  const closed = new Listeners<[CloseInfo]>();
  const failed = new Listeners<[Error]>();
  const heard = new Listeners<[ServerFrame]>();
  const report = (error: Error): void => failed.emit(error);

  const requests = new Requests(timing, {
    send: (text) => connection.send(text),
    cut: (reason) => connection.cut(reason),
  });
  const subscriptions = createSubscriptions({
    isOpen: () => connection.state === "open",
    request: (type, payload, onAnswer) => requests.request(type, payload, onAnswer),
    report,
    call,
  });
  const connection = openConnection(addressOf(options), opener(options), timing, {
    onOpen() {
      requests.watch();
      subscriptions.followAll();
      requests.sendWaiting();
      opened.emit();
    },
    onText(text) {
      requests.heard();
      const frame = parseFrame(text);
      if (frame === undefined) return report(new Error("The gateway sent something that is not a frame"));
      heard.emit(frame);
      if (frame.type === "event") subscriptions.dispatch(frame.event);
      else requests.answer(frame);
    },
    onClose(info) {
      requests.lose(info.code);
      closed.emit(info);
    },
    onError: report,
  });
  const command = (type: string, payload: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      requests.request(type, payload, (data, error) => (error === undefined ? resolve(data) : reject(error)));
    });

  return {
    ...createCommands(command),
    get state() {
      return connection.state;
    },
    command,
    upload: createUpload(options),
    subscribe: (key, onEvent, subscribeOptions = {}) => subscriptions.add(key, onEvent, subscribeOptions),
    onOpen: (listener) => opened.add(listener),
    onClose: (listener) => closed.add(listener),
    onError: (listener) => failed.add(listener),
    onMessage: (listener) => heard.add(listener),
    retryNow: () => connection.retryNow(),
    close() {
      subscriptions.clear();
      requests.close();
      connection.close();
    },
  };
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
