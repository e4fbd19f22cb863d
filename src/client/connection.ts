import { backoffMs } from "../util/async/backoff.js";

/** The part of a WebSocket that the client uses; the browser's, Node's and that of `ws` all have it. */
export interface SocketLike {
  readonly readyState: number;
  send(data: string): void;
  close(code?: number): void;
  /** Only `ws` has it: ends the connection without waiting for the other side. */
  terminate?(): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

/** `protocols` brings the token, where there is one. */
export type SocketConstructor = new (url: string, protocols?: string[]) => SocketLike;

/** `closed` also between two attempts. */
export type ConnectionState = "connecting" | "open" | "closing" | "closed";

export interface RetryTiming {
  /** First wait before connecting again; grows by half each time and falls back once a connection opens. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  /** How long an attempt to connect may take, and a goodbye. */
  readonly connectTimeoutMs: number;
}

/** How a connection, or an attempt to have one, ended. */
export interface CloseInfo {
  /** When the next attempt starts; absent after `close`. */
  readonly retryInMs?: number;
  /** Of the WebSocket, where it told one. */
  readonly code?: number;
  readonly reason?: string;
}

export interface ConnectionListener {
  onOpen(): void;
  onText(text: string): void;
  onClose(info: CloseInfo): void;
  onError(error: Error): void;
}

export interface Connection {
  readonly state: ConnectionState;
  /** False when the connection is not open; nothing was sent then. */
  send(text: string): boolean;
  /** Gives the present connection up as dead and connects again. */
  cut(reason: string): void;
  /** Ends a wait between two attempts. */
  retryNow(): void;
  close(): void;
}

const growth = 1.5;
/** Of the WebSocket interface, the same everywhere. */
const readyStateOpen = 1;

/**
 * Keeps one WebSocket open: connects at once, and again after each loss, without end, until `close`. `address` is asked
 * before each attempt.
 */
export function openConnection(
  address: () => string | Promise<string>,
  open: (url: string) => SocketLike,
  timing: RetryTiming,
  listener: ConnectionListener,
): Connection {
  return new KeptConnection({ address, open, timing, listener });
}

interface KeptOptions {
  readonly address: () => string | Promise<string>;
  readonly open: (url: string) => SocketLike;
  readonly timing: RetryTiming;
  readonly listener: ConnectionListener;
}

class KeptConnection implements Connection {
  readonly #options: KeptOptions;
  #state: ConnectionState = "connecting";
  #socket: SocketLike | undefined;
  /** Counts attempts: what a given-up one still says is not listened to. */
  #attempt = 0;
  #isWanted = true;
  /** Since it was open last. */
  #failures = 0;
  #limitTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: KeptOptions) {
    this.#options = options;
    // Callers hook in their listeners before the first attempt starts.
    this.#retryTimer = setTimeout(() => this.#connect(), 0);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  send(text: string): boolean {
    // A socket that has begun to close drops what it is given, before it says that it is closed.
    if (this.#state !== "open" || this.#socket?.readyState !== readyStateOpen) return false;
    this.#socket.send(text);
    return true;
  }

  cut(reason: string): void {
    if (this.#state !== "connecting" && this.#state !== "open") return;
    this.#options.listener.onError(new Error(reason));
    this.#drop();
  }

  retryNow(): void {
    if (this.#retryTimer !== undefined && this.#isWanted) this.#connect();
  }

  close(): void {
    if (!this.#isWanted) return;
    this.#isWanted = false;
    clearTimeout(this.#retryTimer);
    if (this.#socket === undefined) return void this.#lose();
    clearTimeout(this.#limitTimer);
    this.#state = "closing";
    // A far side that is gone does not say goodbye.
    this.#limitTimer = setTimeout(() => this.#drop(), this.#options.timing.connectTimeoutMs);
    this.#socket.close(1000);
  }

  #connect(): void {
    const { address, open, timing } = this.#options;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#state = "connecting";
    this.#attempt += 1;
    const mine = this.#attempt;
    const late = `No connection within ${timing.connectTimeoutMs} ms`;
    this.#limitTimer = setTimeout(() => this.cut(late), timing.connectTimeoutMs);
    Promise.resolve()
      .then(address)
      .then((url) => {
        if (mine === this.#attempt) this.#listen(open(url), mine);
      })
      .catch((error: unknown) => {
        if (mine === this.#attempt) this.cut(error instanceof Error ? error.message : String(error));
      });
  }

  #listen(opened: SocketLike, mine: number): void {
    const { listener } = this.#options;
    this.#socket = opened;
    opened.addEventListener("open", () => {
      if (mine !== this.#attempt || this.#state !== "connecting") return;
      clearTimeout(this.#limitTimer);
      this.#failures = 0;
      this.#state = "open";
      listener.onOpen();
    });
    opened.addEventListener("message", (event) => {
      if (mine === this.#attempt && "data" in event && typeof event.data === "string") listener.onText(event.data);
    });
    opened.addEventListener("error", (event) => {
      // Closing a connection that is not open yet is an error to `ws`.
      if (mine !== this.#attempt || !this.#isWanted) return;
      const message = "message" in event && typeof event.message === "string" ? event.message : "";
      listener.onError(new Error(message || "The connection to the gateway failed"));
    });
    opened.addEventListener("close", (event) => {
      if (mine !== this.#attempt) return;
      const code = "code" in event && typeof event.code === "number" ? { code: event.code } : {};
      const reason = "reason" in event && typeof event.reason === "string" ? { reason: event.reason } : {};
      this.#lose({ ...code, ...reason });
    });
  }

  #lose(info: CloseInfo = {}): void {
    const { listener, timing } = this.#options;
    clearTimeout(this.#limitTimer);
    this.#attempt += 1;
    this.#socket = undefined;
    this.#state = "closed";
    if (!this.#isWanted) return void listener.onClose(info);
    this.#failures += 1;
    const waitMs = backoffMs(this.#failures, { firstMs: timing.retryMinMs, longestMs: timing.retryMaxMs, growth });
    const retryInMs = Math.min(Math.round(waitMs * (0.8 + 0.4 * Math.random())), timing.retryMaxMs);
    this.#retryTimer = setTimeout(() => this.#connect(), retryInMs);
    listener.onClose({ ...info, retryInMs });
  }

  #drop(): void {
    const dead = this.#socket;
    this.#lose();
    if (dead?.terminate === undefined) dead?.close();
    else dead.terminate();
  }
}
