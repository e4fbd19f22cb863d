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
  let state: ConnectionState = "connecting";
  let socket: SocketLike | undefined;
  /** Counts attempts: what a given-up one still says is not listened to. */
  let attempt = 0;
  let isWanted = true;
  let waitMs = timing.retryMinMs;
  let limitTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    state = "connecting";
    attempt += 1;
    const mine = attempt;
    const late = `No connection within ${timing.connectTimeoutMs} ms`;
    limitTimer = setTimeout(() => cut(late), timing.connectTimeoutMs);
    Promise.resolve()
      .then(address)
      .then((url) => {
        if (mine === attempt) listen(open(url), mine);
      })
      .catch((error: unknown) => {
        if (mine === attempt) cut(error instanceof Error ? error.message : String(error));
      });
  }

  function listen(opened: SocketLike, mine: number): void {
    socket = opened;
    opened.addEventListener("open", () => {
      if (mine !== attempt || state !== "connecting") return;
      clearTimeout(limitTimer);
      waitMs = timing.retryMinMs;
      state = "open";
      listener.onOpen();
    });
    opened.addEventListener("message", (event) => {
      if (mine === attempt && "data" in event && typeof event.data === "string") listener.onText(event.data);
    });
    opened.addEventListener("error", (event) => {
      // Closing a connection that is not open yet is an error to `ws`.
      if (mine !== attempt || !isWanted) return;
      const message = "message" in event && typeof event.message === "string" ? event.message : "";
      listener.onError(new Error(message || "The connection to the gateway failed"));
    });
    opened.addEventListener("close", (event) => {
      if (mine !== attempt) return;
      const code = "code" in event && typeof event.code === "number" ? { code: event.code } : {};
      const reason = "reason" in event && typeof event.reason === "string" ? { reason: event.reason } : {};
      lose({ ...code, ...reason });
    });
  }

  function lose(info: CloseInfo = {}): void {
    clearTimeout(limitTimer);
    attempt += 1;
    socket = undefined;
    state = "closed";
    if (!isWanted) {
      listener.onClose(info);
      return;
    }
    const retryInMs = Math.min(Math.round(waitMs * (0.8 + 0.4 * Math.random())), timing.retryMaxMs);
    waitMs = Math.min(waitMs * growth, timing.retryMaxMs);
    retryTimer = setTimeout(connect, retryInMs);
    listener.onClose({ ...info, retryInMs });
  }

  function drop(): void {
    const dead = socket;
    lose();
    if (dead?.terminate === undefined) dead?.close();
    else dead.terminate();
  }

  function cut(reason: string): void {
    if (state !== "connecting" && state !== "open") return;
    listener.onError(new Error(reason));
    drop();
  }

  // Callers hook in their listeners before the first attempt starts.
  retryTimer = setTimeout(connect, 0);

  return {
    get state() {
      return state;
    },
    send(text) {
      // A socket that has begun to close drops what it is given, before it says that it is closed.
      if (state !== "open" || socket?.readyState !== readyStateOpen) return false;
      socket.send(text);
      return true;
    },
    cut,
    retryNow() {
      if (retryTimer !== undefined && isWanted) connect();
    },
    close() {
      if (!isWanted) return;
      isWanted = false;
      clearTimeout(retryTimer);
      if (socket === undefined) return lose();
      clearTimeout(limitTimer);
      state = "closing";
      // A far side that is gone does not say goodbye.
      limitTimer = setTimeout(drop, timing.connectTimeoutMs);
      socket.close(1000);
    },
  };
}
