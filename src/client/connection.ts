/** The part of a WebSocket that the client uses; the browser's, Node's and that of `ws` all have it. */
export interface SocketLike {
  readonly readyState: number;
  send(data: string): void;
  close(): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

export type SocketConstructor = new (url: string) => SocketLike;

export type ConnectionState = "connecting" | "open" | "closing" | "closed";

export interface RetryTiming {
  /** First wait before connecting again; grows by half each time and falls back once a connection opens. */
  readonly retryMinMs: number;
  readonly retryMaxMs: number;
  readonly connectTimeoutMs: number;
}

export interface ConnectionListener {
  onOpen(): void;
  onText(text: string): void;
  /** `retryInMs` is absent when nobody will connect again. */
  onClose(info: { readonly retryInMs?: number }): void;
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

/** Keeps one WebSocket open: connects at once, and again after each loss, without end, until `close`. */
export function openConnection(
  url: string,
  Socket: SocketConstructor,
  timing: RetryTiming,
  listener: ConnectionListener,
): Connection {
  let state: ConnectionState = "closed";
  let socket: SocketLike | undefined;
  let isWanted = true;
  let waitMs = timing.retryMinMs;
  let connectTimer: ReturnType<typeof setTimeout> | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    state = "connecting";
    let mine: SocketLike;
    try {
      mine = new Socket(url);
    } catch (error) {
      listener.onError(error instanceof Error ? error : new Error(String(error)));
      lose();
      return;
    }
    socket = mine;
    connectTimer = setTimeout(() => cut(`No connection within ${timing.connectTimeoutMs} ms`), timing.connectTimeoutMs);
    mine.addEventListener("open", () => {
      if (socket !== mine) return;
      clearTimeout(connectTimer);
      waitMs = timing.retryMinMs;
      state = "open";
      listener.onOpen();
    });
    mine.addEventListener("message", (event) => {
      if (socket === mine && "data" in event && typeof event.data === "string") listener.onText(event.data);
    });
    mine.addEventListener("error", (event) => {
      if (socket !== mine) return;
      const message = "message" in event && typeof event.message === "string" ? event.message : "";
      listener.onError(new Error(message || "The connection to the gateway failed"));
    });
    mine.addEventListener("close", () => {
      if (socket === mine) lose();
    });
  }

  function lose(): void {
    clearTimeout(connectTimer);
    socket = undefined;
    state = "closed";
    if (!isWanted) {
      listener.onClose({});
      return;
    }
    const retryInMs = Math.round(waitMs * (0.8 + 0.4 * Math.random()));
    waitMs = Math.min(waitMs * growth, timing.retryMaxMs);
    retryTimer = setTimeout(connect, retryInMs);
    listener.onClose({ retryInMs });
  }

  function cut(reason: string): void {
    const dead = socket;
    if (dead === undefined) return;
    listener.onError(new Error(reason));
    lose();
    dead.close();
  }

  // Callers hook in their listeners before the first attempt starts.
  retryTimer = setTimeout(connect, 0);
  state = "connecting";

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
      if (socket === undefined) {
        state = "closed";
        listener.onClose({});
        return;
      }
      state = "closing";
      socket.close();
    },
  };
}
