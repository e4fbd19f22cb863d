import type { Logger } from "../log.js";

export interface HttpOptions {
  /** Address to listen on. Anything but a loopback address needs a token. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** When set, every request but `/health`, `/ready` and the page's own files must carry it. */
  readonly token?: string | undefined;
  /** Pages from elsewhere that may call, each as `https://host[:port]`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Folder of the built web page. */
  readonly webRoot: string;
  /** Of a request body and of a WebSocket frame. Default 2 MB. */
  readonly maxBodyBytes?: number | undefined;
  /** WebSocket connections and event streams at the same time. Default 1024. */
  readonly maxConnections?: number | undefined;
  /** Default 30 s. */
  readonly pingIntervalMs?: number | undefined;
  /** A WebSocket whose pong is later than this is ended. Default 5 s. */
  readonly pongTimeoutMs?: number | undefined;
  /** A WebSocket command without a result after this gets an error. Default 30 s. */
  readonly commandTimeoutMs?: number | undefined;
  /** Between two comment lines of an event stream. Default 15 s. */
  readonly heartbeatMs?: number | undefined;
  /** Until a request's headers are in. Default 10 s. */
  readonly headersTimeoutMs?: number | undefined;
  /** Until a whole request is in. Default 30 s. */
  readonly requestTimeoutMs?: number | undefined;
  /** The same for one that brings a file. Default 15 min. */
  readonly uploadTimeoutMs?: number | undefined;
  /** What may wait for one slow reader before it is disconnected. Default 8 MB. */
  readonly maxBufferedBytes?: number | undefined;
  /** How late the fourth wrong token of an address is answered; each further one twice as late. Default 250 ms. */
  readonly wrongTokenDelayMs?: number | undefined;
  /** How long a stop waits for answers under way. Default 2 s. */
  readonly graceMs?: number | undefined;
  /** Told about each client that stays connected (WebSocket, event stream); returns what to call when it has gone. */
  readonly onClient?: ((name: string) => () => void) | undefined;
  readonly log: Logger;
}

type Defaulted =
  | "allowedOrigins"
  | "maxBodyBytes"
  | "maxConnections"
  | "pingIntervalMs"
  | "pongTimeoutMs"
  | "commandTimeoutMs"
  | "heartbeatMs"
  | "headersTimeoutMs"
  | "requestTimeoutMs"
  | "uploadTimeoutMs"
  | "maxBufferedBytes"
  | "wrongTokenDelayMs"
  | "graceMs";

/** The options with every default filled in. */
export type HttpSettings = Omit<HttpOptions, Defaulted> & {
  readonly [K in Defaulted]-?: NonNullable<HttpOptions[K]>;
};

export function withDefaults(options: HttpOptions): HttpSettings {
  return {
    ...options,
    allowedOrigins: options.allowedOrigins ?? [],
    maxBodyBytes: options.maxBodyBytes ?? 2 * 1024 * 1024,
    maxConnections: options.maxConnections ?? 1024,
    pingIntervalMs: options.pingIntervalMs ?? 30_000,
    pongTimeoutMs: options.pongTimeoutMs ?? 5000,
    commandTimeoutMs: options.commandTimeoutMs ?? 30_000,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    uploadTimeoutMs: options.uploadTimeoutMs ?? 900_000,
    maxBufferedBytes: options.maxBufferedBytes ?? 8 * 1024 * 1024,
    wrongTokenDelayMs: options.wrongTokenDelayMs ?? 250,
    graceMs: options.graceMs ?? 2000,
  };
}
