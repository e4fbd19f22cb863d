import { SdkHttpError } from "@modelcontextprotocol/client";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { backoffMs, jittered } from "../util/async/backoff.js";
import { createGate } from "../util/async/gate.js";
import { sleep } from "../util/async/sleep.js";
import { codeOf } from "../util/error-code.js";
import { LoginNeeded, MoreLoginNeeded } from "./auth/oauth.js";
import type { ServerCatalog } from "./connection/catalog.js";
import { type McpSession, openSession, type SessionOptions } from "./connection/session.js";
import type { McpServerSettings } from "./settings.js";

/** How often it is looked whether it is used, at least. */
const lookMs = 30_000;

/** `idle`: left after a while without use; the next call brings it back. `off`: a person has to do something. */
export type McpServerState = "connecting" | "connected" | "reconnecting" | "idle" | "off";

export interface StateDetail {
  readonly attempt?: number;
  readonly delayMs?: number;
  readonly reason?: string;
  readonly toolCount?: number;
}

export interface ServerOptions extends Omit<SessionOptions, "onChanged" | "auth"> {
  /** What it offered before it was opened again. */
  readonly known?: ServerCatalog | undefined;
  readonly auth: (server: McpServerSettings) => Promise<SessionOptions["auth"]>;
  /** Unused for so long, it is left; 0: never. Looked at again and again. */
  readonly idleMs: number;
  readonly onState: (to: McpServerState, detail: StateDetail) => void;
  /** What it offers is new or has changed. */
  readonly onCatalog: () => void;
  readonly log: Logger;
}

/** A call that could not be made, in one clause. Nothing has reached the server. */
export class NotConnected extends Error {
  override readonly name = "NotConnected";
}

/**
 * One configured server, shared by all sessions: kept connected, left when idle, connected again with growing pauses.
 * What it offered last is remembered while it is away.
 */
export class McpServer {
  readonly settings: McpServerSettings;
  readonly #options: ServerOptions;
  #state: McpServerState = "connecting";
  #detail: StateDetail = {};
  #since = new Date();
  #session: McpSession | undefined;
  #catalog: ServerCatalog | undefined;
  #running = 0;
  #usedAt = performance.now();
  #wake = new AbortController();
  #changed = createGate();
  #isStale = false;
  #isRefreshing = false;
  #wants: string | undefined;
  /** Known to speak older revisions alone. */
  #isOlder = false;
  readonly #tried = createGate();
  #freed = createGate();
  #signal: AbortSignal | undefined;

  constructor(settings: McpServerSettings, options: ServerOptions) {
    this.settings = settings;
    this.#options = options;
    this.#catalog = options.known;
  }

  get state(): McpServerState {
    return this.#state;
  }

  get detail(): StateDetail {
    return this.#detail;
  }

  /** When it was reached last, or was lost, left or given up: tries to connect in between change nothing. */
  get since(): Date {
    return this.#since;
  }

  get catalog(): ServerCatalog | undefined {
    return this.#catalog;
  }

  /** What a call wanted a person to do, as a clause; it can be used for others. */
  get wants(): string | undefined {
    return this.#wants;
  }

  get session(): McpSession | undefined {
    return this.#session;
  }

  /** Resolves when the first try to connect is over, however it ended. */
  get tried(): Promise<void> {
    return this.#tried.opened;
  }

  /** Why it is being ended, as a clause. */
  get leaving(): string | undefined {
    return this.#signal?.aborted === true ? messageOf(this.#signal.reason) : undefined;
  }

  /** What it says about itself without secrets: a page of an error may repeat what it was sent. */
  said(error: unknown): string {
    return this.#options.mask(messageOf(error));
  }

  /** Keeps it connected until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { limits } = this.#options;
    this.#signal = signal;
    let attempt = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const end = await this.#hold(signal);
      this.#tried.open();
      if (signal.aborted) break;
      if (end.kind === "failed") {
        attempt = end.wasConnected && performance.now() - startedAt >= limits.stableMs ? 1 : attempt + 1;
        const delayMs = jittered(backoffMs(attempt, { firstMs: limits.minDelayMs, longestMs: limits.maxDelayMs }));
        this.#enter("reconnecting", { attempt, delayMs, reason: end.reason });
        await this.#pause(delayMs, signal);
      } else {
        attempt = 0;
        this.#enter(end.kind, end.kind === "off" ? { reason: end.reason } : {});
        await this.#pause(undefined, signal);
      }
    }
    this.#tried.open();
    this.#enter("off", { reason: messageOf(signal.reason) });
  }

  /** Resolves once no call runs. */
  async unused(): Promise<void> {
    while (this.#running > 0) await this.#freed.opened;
  }

  /** Ends a pause, or the connection that is there, and connects at once. */
  reconnect(): void {
    if (this.#session !== undefined) void this.#session.close();
    else this.#wake.abort();
  }

  /**
   * Runs `work` on the connection, waking the server first if it is idle. A server that does not know the session any
   * more has not done the work: it is done again on a new one.
   *
   * @throws {NotConnected} when it is away
   */
  async use<T>(work: (session: McpSession) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#running += 1;
    try {
      const session = await this.#connected(signal);
      try {
        return await work(session);
      } catch (error) {
        // Its state then says what a person has to do.
        if (isLoggedOut(error)) void session.close();
        if (error instanceof MoreLoginNeeded) this.#wants = this.#loginHint(error);
        if (!isForgotten(error)) throw error;
        await session.close();
        return await work(await this.#connected(signal, session));
      }
    } finally {
      this.#running -= 1;
      this.#usedAt = performance.now();
      this.#freed.open();
      this.#freed = createGate();
    }
  }

  /** After a call without an answer: a server that is not even there any more is left. */
  async suspect(session: McpSession): Promise<void> {
    if (await session.answers()) return;
    this.#options.log.warn(`MCP server ${this.settings.name} does not answer any more`);
    await session.close();
  }

  async #hold(signal: AbortSignal): Promise<End> {
    const { settings } = this;
    const { log } = this.#options;
    this.#enter("connecting", {});
    let session: McpSession;
    try {
      const auth = await this.#options.auth(settings);
      const onChanged = (): void => void this.#refresh(signal);
      const isOlder = this.#isOlder;
      // Found out again, should that have failed because of it.
      this.#isOlder = false;
      session = await openSession(settings, { ...this.#options, auth, onChanged, isOlder, asks: true }, signal);
      // Over HTTP asking costs little. Here a server may end of it, or make everybody wait.
      this.#isOlder = session.kind === "stdio" && session.isOlder;
    } catch (error) {
      if (error instanceof LoginNeeded) {
        const reason = this.#loginHint(error);
        log.warn(`MCP server ${settings.name} is off: ${reason}`);
        return { kind: "off", reason };
      }
      if (!signal.aborted) log.warn(`MCP server ${settings.name} cannot be used: ${this.said(error)}`);
      return { kind: "failed", reason: this.said(error), wasConnected: false };
    }
    const stop = (): void => void session.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#session = session;
    this.#wants = undefined;
    this.#learn(session.catalog);
    this.#usedAt = performance.now();
    this.#enter("connected", { toolCount: session.catalog.tools.length });
    this.#tried.open();
    this.#options.onCatalog();
    const idle = this.#watchIdle(session);
    const closed = await session.closed;
    const reason = closed === undefined ? undefined : this.#options.mask(closed);
    clearInterval(idle.timer);
    signal.removeEventListener("abort", stop);
    this.#session = undefined;
    if (idle.isOver()) return { kind: "idle" };
    if (!signal.aborted) log.warn(`MCP server ${settings.name} is gone: ${reason ?? "it closed the connection"}`);
    return { kind: "failed", reason: reason ?? "it closed the connection", wasConnected: true };
  }

  #loginHint(error: Error): string {
    return `${this.said(error)}: log in with "maxclaw mcp login ${this.settings.name}"`;
  }

  #watchIdle(session: McpSession): { readonly timer: NodeJS.Timeout; readonly isOver: () => boolean } {
    let isOver = false;
    const timer = setInterval(
      () => {
        const { idleMs } = this.#options;
        if (idleMs === 0 || this.#running > 0 || performance.now() - this.#usedAt < idleMs) return;
        isOver = true;
        void session.close();
      },
      Math.min(this.#options.idleMs || lookMs, lookMs),
    );
    timer.unref();
    return { timer, isOver: () => isOver };
  }

  /** However often the server says that its tools have changed: one list at a time, and a pause after each. */
  async #refresh(signal: AbortSignal): Promise<void> {
    this.#isStale = true;
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    const { limits, log } = this.#options;
    while (this.#isStale && !signal.aborted) {
      this.#isStale = false;
      const session = this.#session;
      try {
        const catalog = await session?.refresh();
        if (catalog !== undefined && session === this.#session) {
          this.#learn(catalog);
          this.#detail = { toolCount: catalog.tools.length };
          this.#options.onCatalog();
        }
        await sleep(limits.listPauseMs, signal);
      } catch (error) {
        if (signal.aborted) break;
        log.warn(`MCP server ${this.settings.name} did not list its tools again: ${this.said(error)}`);
      }
    }
    this.#isRefreshing = false;
  }

  #learn(catalog: ServerCatalog): void {
    this.#catalog = catalog;
    if (catalog.tooLarge.length > 0)
      this.#options.log.warn(
        `MCP server ${this.settings.name} has tools that are too large to be offered: ${catalog.tooLarge.join(", ")}`,
      );
  }

  async #connected(signal: AbortSignal, not?: McpSession): Promise<McpSession> {
    const { limits } = this.#options;
    const end = performance.now() + limits.initialiseMs + limits.listMs;
    // A session that was lost is connected again at once, but only once, for the call that found out.
    let mayWake = this.#state === "idle" || not !== undefined;
    for (;;) {
      signal.throwIfAborted();
      // It may take a moment to end, in which nothing more is asked of it.
      if (this.leaving !== undefined) throw new NotConnected(this.leaving);
      if (this.#session !== undefined && this.#session !== not) return this.#session;
      const isResting = this.#state === "idle" || this.#state === "reconnecting";
      if (this.#state === "off" || (isResting && !mayWake))
        throw new NotConnected(this.#detail.reason ?? "it is not connected");
      if (performance.now() > end) throw new NotConnected("it took too long to connect");
      if (isResting) {
        mayWake = false;
        this.#wake.abort();
      }
      await Promise.race([this.#changed.opened, sleep(1000, signal)]);
    }
  }

  /** Until {@link reconnect}, a call that needs it, or the time is over. */
  async #pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
    this.#wake = new AbortController();
    const onAbort = (): void => this.#wake.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    await sleep(ms ?? 2 ** 31 - 1, this.#wake.signal).catch(() => undefined);
    signal.removeEventListener("abort", onAbort);
  }

  #enter(state: McpServerState, detail: StateDetail): void {
    const isAway = (one: McpServerState): boolean => one === "connecting" || one === "reconnecting";
    if (state !== this.#state && !(isAway(state) && isAway(this.#state))) this.#since = new Date();
    this.#state = state;
    this.#detail = detail;
    this.#options.onState(state, detail);
    this.#changed.open();
    this.#changed = createGate();
  }
}

type End =
  | { readonly kind: "failed"; readonly reason: string; readonly wasConnected: boolean }
  | { readonly kind: "idle" }
  | { readonly kind: "off"; readonly reason: string };

/** An HTTP server that was started again answers 404 to the session it gave before, and has done nothing. */
function isForgotten(error: unknown): boolean {
  return (error instanceof SdkHttpError && error.status === 404) || (error instanceof Error && isRefused(error));
}

function isLoggedOut(error: unknown): boolean {
  return error instanceof LoginNeeded || (error instanceof SdkHttpError && error.status === 401);
}

function isRefused({ cause }: Error): boolean {
  return codeOf(cause) === "ECONNREFUSED";
}
