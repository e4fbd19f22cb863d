import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../log.js";
import { plainSite, type Site } from "./access/site.js";

export interface HttpOptions {
  /** Address to listen on. Anything but a loopback address needs a token. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** When set, every request but `/health`, `/ready` and the page's own files must carry it. */
  readonly token?: string | undefined;
  /** Pages from elsewhere that may call, each as `https://host[:port]`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** How the gateway is reached from elsewhere, as it is now. Default: at the top, without a proxy. */
  readonly site?: (() => Site) | undefined;
  /** Folder of the built web page. */
  readonly webRoot: string;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly timings?: Partial<HttpTimings> | undefined;
  /** Called with each client that stays connected (WebSocket, event stream); returns what to call when it has gone. */
  readonly onClient?: ((name: string) => () => void) | undefined;
  /** Who takes what a chat platform brings to `/hooks/<name>`, and says itself whom to believe. Never rejects. */
  readonly hookOf?:
    | ((name: string) => ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined)
    | undefined;
  readonly log: Logger;
}

export interface HttpLimits {
  /** Of a request body and of a WebSocket frame. Default 2 MB. */
  readonly maxBodyBytes: number;
  /** WebSocket connections and event streams at the same time. Default 1024. */
  readonly maxConnections: number;
  /** What may wait for one slow reader before it is disconnected. Default 8 MB. */
  readonly maxBufferedBytes: number;
}

export interface HttpTimings {
  /** Default 30 s. */
  readonly pingIntervalMs: number;
  /** A WebSocket whose pong is later than this is ended. Default 5 s. */
  readonly pongTimeoutMs: number;
  /** A WebSocket command without a result after this gets an error. Default 30 s. */
  readonly commandTimeoutMs: number;
  /** Between two comment lines of an event stream. Default 15 s. */
  readonly heartbeatMs: number;
  /** Until a request's headers are in. Default 10 s. */
  readonly headersTimeoutMs: number;
  /** Until a whole request is in. Default 30 s. */
  readonly requestTimeoutMs: number;
  /** The same for one that brings a file. Default 15 min. */
  readonly uploadTimeoutMs: number;
  /** How late the fourth wrong token of an address is answered; each further one twice as late. Default 250 ms. */
  readonly wrongTokenDelayMs: number;
  /** How long a stop waits for answers under way. Default 2 s. */
  readonly graceMs: number;
}

const limits: HttpLimits = {
  maxBodyBytes: 2 * 1024 * 1024,
  maxConnections: 1024,
  maxBufferedBytes: 8 * 1024 * 1024,
};

const timings: HttpTimings = {
  pingIntervalMs: 30_000,
  pongTimeoutMs: 5000,
  commandTimeoutMs: 30_000,
  heartbeatMs: 15_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  uploadTimeoutMs: 900_000,
  wrongTokenDelayMs: 250,
  graceMs: 2000,
};

/** The options with every default filled in. */
export interface HttpSettings extends HttpOptions {
  readonly allowedOrigins: readonly string[];
  readonly site: () => Site;
  readonly limits: HttpLimits;
  readonly timings: HttpTimings;
}

export function withDefaults(options: HttpOptions): HttpSettings {
  return {
    ...options,
    allowedOrigins: options.allowedOrigins ?? [],
    site: options.site ?? (() => plainSite),
    limits: { ...limits, ...options.limits },
    timings: { ...timings, ...options.timings },
  };
}
