import { type ClientOptions, WebSocket } from "ws";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { backoffMs, jittered } from "../../util/async/backoff.js";
import { linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";
import { whyUnreached } from "../../util/text/why-unreached.js";
import { statusSentence } from "../../util/words/status-sentences.js";

export interface SocketOptions {
  /** Who is at the other end, for people, e.g. `QQ`. */
  readonly title: string;
  /** Asked before each connection, since some platforms give a new address each time. It may hold a secret. */
  readonly address: (signal: AbortSignal) => Promise<string>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** In their order; a promise holds up nothing. What it throws ends the connection. */
  readonly onMessage: (data: Buffer, isText: boolean, socket: OpenSocket) => void;
  /** Each time it is open: to log in, or to go on where it was. */
  readonly onOpen?: (socket: OpenSocket) => void;
  /** With each message, pong or opening: a proof of life. */
  readonly onAlive: () => void;
  /** What a close code of the platform means: an error that is not `retryable` ends the run. Absent: it comes back. */
  readonly onClosed?: (code: number, reason: string) => ChannelError | undefined;
  readonly limits?: Partial<SocketLimits>;
  readonly log: Logger;
}

export interface SocketLimits {
  /** Until it is open. Default 15,000. */
  readonly openMs: number;
  /** Between two pings. Default 20,000. Without end: the platform has a heartbeat of its own, or none. */
  readonly pingMs: number;
  /** Nothing was heard for so long: the connection only looks open. Default 60,000. */
  readonly silentMs: number;
  /** So long a lost connection may take to come back before the run ends. Default 60,000. */
  readonly reconnectMs: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** Of one message. Default 16 MB. */
  readonly maxBytes: number;
}

/** One connection, while it is open. */
export interface OpenSocket {
  /** Resolves once it has left. @throws {ChannelError} `refused` when the connection is not open */
  send(data: string | Uint8Array): Promise<void>;
  /** Ends this connection; the next one is opened at once. */
  renew(): void;
}

const defaults: SocketLimits = {
  openMs: 15_000,
  pingMs: 20_000,
  silentMs: 60_000,
  reconnectMs: 60_000,
  firstDelayMs: 500,
  longestDelayMs: 15_000,
  maxBytes: 16 * 1024 * 1024,
};

/**
 * Keeps a WebSocket to a platform open until `signal` aborts: comes back after a cut, later each time, and cuts a
 * connection that is silent although it is asked for a sign.
 *
 * @throws {ChannelError} it does not come back, or the platform refuses it
 */
export async function keepSocket(options: SocketOptions, signal: AbortSignal): Promise<void> {
  const limits = { ...defaults, ...options.limits };
  let lostAt = Date.now();
  for (let failures = 0; !signal.aborted; ) {
    const begunAt = Date.now();
    const end = await new Attempt(options, limits).run(signal);
    if (signal.aborted) return;
    if (!end.error.retryable) throw end.error;
    if (end.wasOpen) {
      failures = 0;
      lostAt = Date.now();
    } else failures += 1;
    if (Date.now() - lostAt >= limits.reconnectMs) throw end.error;
    // A platform that asks for a new connection at once and again is not obeyed any faster than one that cuts.
    const isAsked = end.isRenewed && Date.now() - begunAt > limits.firstDelayMs;
    const growth = { firstMs: limits.firstDelayMs, longestMs: limits.longestDelayMs };
    const delayMs = isAsked ? 0 : jittered(backoffMs(failures, growth));
    options.log.debug(`${options.title}: ${end.error.message}`, { delayMs });
    await sleep(Math.max(delayMs, end.error.retryAfterMs ?? 0), signal).catch(() => undefined);
  }
}

interface AttemptEnd {
  readonly error: ChannelError;
  readonly wasOpen: boolean;
  readonly isRenewed: boolean;
}

/** One connection from its opening to its end. */
class Attempt implements OpenSocket {
  readonly #options: SocketOptions;
  readonly #limits: SocketLimits;
  #socket: WebSocket | undefined;
  #wasOpen = false;
  #isRenewed = false;
  #heardAt = 0;
  #failure: ChannelError | undefined;

  constructor(options: SocketOptions, limits: SocketLimits) {
    this.#options = options;
    this.#limits = limits;
  }

  async run(signal: AbortSignal): Promise<AttemptEnd> {
    const error = await this.#live(signal).catch((failure: unknown) => this.#errorOf(failure));
    return { error, wasOpen: this.#wasOpen, isRenewed: this.#isRenewed };
  }

  async #live(signal: AbortSignal): Promise<ChannelError> {
    const { address, headers, protocols = [], title } = this.#options;
    using opening = linked(signal, this.#limits.openMs);
    const url = await address(opening.signal);
    const settings: ClientOptions = {
      handshakeTimeout: this.#limits.openMs,
      maxPayload: this.#limits.maxBytes,
      perMessageDeflate: false,
      ...(headers === undefined ? {} : { headers: { ...headers } }),
    };
    const socket = new WebSocket(url, [...protocols], settings);
    this.#socket = socket;
    const cut = (): void => socket.terminate();
    signal.addEventListener("abort", cut, { once: true });
    if (signal.aborted) cut();
    const watch = this.#watch(socket);
    try {
      const closed = await this.#closed(socket);
      return (
        this.#failure ??
        this.#options.onClosed?.(closed.code, closed.reason) ??
        new ChannelError(statusSentence("connection_closed", { title, code: closed.code }), { retryable: true })
      );
    } finally {
      watch();
      signal.removeEventListener("abort", cut);
    }
  }

  #closed(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
    return new Promise((resolve, reject) => {
      socket.on("error", (error) => (this.#wasOpen ? undefined : reject(error)));
      socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
      socket.on("unexpected-response", (request, response) => {
        request.destroy();
        reject(refusal(this.#options.title, response.statusCode ?? 0));
      });
      socket.on("open", () =>
        this.#guarded(() => {
          this.#wasOpen = true;
          this.#hear();
          this.#options.onOpen?.(this);
        }),
      );
      socket.on("pong", () => this.#hear());
      socket.on("ping", () => this.#hear());
      socket.on("message", (data, isBinary) =>
        this.#guarded(() => {
          this.#hear();
          this.#options.onMessage(toBuffer(data), !isBinary, this);
        }),
      );
    });
  }

  /** Asks for signs of life, and cuts a connection that gives none. Returns what ends that. */
  #watch(socket: WebSocket): () => void {
    const { pingMs, silentMs } = this.#limits;
    const everyMs = Math.min(pingMs, silentMs / 3);
    const timer = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return;
      if (Date.now() - this.#heardAt >= silentMs) {
        this.#failure = new ChannelError(
          `Nothing was heard from ${this.#options.title} for ${Math.round(silentMs / 1000)} s.`,
          { retryable: true },
        );
        socket.terminate();
      } else if (Number.isFinite(pingMs)) socket.ping();
    }, everyMs);
    return () => clearInterval(timer);
  }

  #hear(): void {
    this.#heardAt = Date.now();
    this.#options.onAlive();
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure = this.#errorOf(error);
      this.#socket?.terminate();
    }
  }

  send(data: string | Uint8Array): Promise<void> {
    const { title } = this.#options;
    const socket = this.#socket;
    if (socket === undefined || socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new ChannelError(statusSentence("no_connection", { title }), { retryable: true }));
    return new Promise((resolve, reject) => {
      socket.send(data, (error) => {
        if (error === undefined || error === null) resolve();
        else
          reject(
            new ChannelError(statusSentence("connection_broke", { title }), { retryable: true, outcome: "unknown" }),
          );
      });
    });
  }

  renew(): void {
    this.#isRenewed = true;
    this.#socket?.close(1000);
  }

  /** The cause is left out: it can hold the address, and that a token. */
  #errorOf(error: unknown): ChannelError {
    if (error instanceof ChannelError) return error;
    const why = whyUnreached(error) ?? messageOf(error).replaceAll(/wss?:\/\/\S+/g, "its address");
    return new ChannelError(statusSentence("unreachable", { title: atBegin(this.#options.title), reason: why }), {
      retryable: true,
    });
  }
}

function refusal(title: string, status: number): ChannelError {
  const isRefused = status === 401 || status === 403;
  return new ChannelError(`${atBegin(title)} refused the connection (${status}).`, { retryable: !isRefused });
}

/** The name where a sentence begins. */
function atBegin(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? Buffer.from(data) : data;
}
