import {
  type CallToolResult,
  Client,
  type ElicitRequest,
  type ElicitResult,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Tool as ToolInfo,
  type Transport,
} from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { settledWithin, within } from "../../util/async/within.js";
import type { Asker } from "../asking/ask.js";
import { LoginNeeded } from "../auth/oauth.js";
import type { McpServerSettings } from "../settings.js";
import { StdioTransport } from "../transport/stdio-transport.js";
import { createTransport, kindsOf, type TransportKind, type TransportOptions } from "../transport/transports.js";
import { CallTime, CallTimeout } from "./call-time.js";
import { readCatalog, type ServerCatalog } from "./catalog.js";
import { followChanges } from "./changes.js";
import { clauseOf, explain, isFatal, isUnknownHere } from "./explain.js";
import { type Agreement, negotiationOf, nextAgreement } from "./revision.js";

const pingMs = 5000;

/** What a request of one call is made with. Its time is limited by the signal, so the client's own limit is none. */
export type CallOptions = Required<Pick<RequestOptions, "signal" | "timeout">>;

/** For whom a call is made. */
export interface Caller {
  readonly signal: AbortSignal;
  readonly asker: Asker;
  /** What the server wanted to ask was declined: why, as a clause. */
  readonly onDeclined: (why: string) => void;
}

/** One connection to a server, initialised, its tools listed. */
export interface McpSession {
  readonly kind: TransportKind;
  readonly catalog: ServerCatalog;
  readonly client: Client;
  /** Resolves with why it is over; undefined where nobody knows. */
  readonly closed: Promise<string | undefined>;
  readonly isClosed: boolean;
  readonly pid: number | undefined;
  /** It speaks none of the revisions that begin without `initialize`. */
  readonly isOlder: boolean;
  /** Runs one call, as long as the server may take for it. @throws {CallTimeout} */
  call<T>(work: (options: CallOptions) => Promise<T>, caller: Caller): Promise<T>;
  callTool(tool: ToolInfo, input: Record<string, unknown>, caller: Caller): Promise<CallToolResult>;
  /** Lists the tools again. */
  refresh(): Promise<ServerCatalog>;
  /** False: it does not even answer that it is there. */
  answers(): Promise<boolean>;
  close(): Promise<void>;
}

export interface SessionOptions extends TransportOptions {
  readonly version: string;
  /** It is known to speak older revisions alone. */
  readonly isOlder?: boolean | undefined;
  /** People can be asked in calls. */
  readonly asks?: boolean | undefined;
  /** The server says that its tools have changed. */
  readonly onChanged: () => void;
}

/**
 * Connects, 10 s at most, and lists the tools, 10 s at most.
 *
 * @throws {LoginNeeded} when a person has to log in first
 * @throws {Error} with one clause that says what went wrong
 */
export async function openSession(
  server: McpServerSettings,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<McpSession> {
  const [kind, older] = kindsOf(server);
  try {
    return await openBy(kind, server, options, signal);
  } catch (error) {
    if (!isUnknownHere(error)) throw error;
    const first = new Error(clauseOf(error), { cause: error });
    if (older === undefined) throw first;
    // Where neither way is known, what was said to the first one tells more.
    return await openBy(older, server, options, signal).catch((second: unknown) => {
      throw /^SSE error: Non-200/.test(messageOf(second)) ? first : second;
    });
  }
}

async function openBy(
  kind: TransportKind,
  server: McpServerSettings,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<McpSession> {
  const first: Agreement = kind === "sse" || options.isOlder === true ? "older" : "either";
  const connection = new Connection(kind, server, options, first);
  try {
    return await connection.open(signal);
  } catch (error) {
    const next = signal.aborted ? undefined : nextAgreement(first, error, connection.endedItself);
    if (next === undefined) throw error;
    return await new Connection(kind, server, options, next).open(signal).catch((second: unknown) => {
      throw error instanceof LoginNeeded ? error : second;
    });
  }
}

interface RunningCall {
  readonly time: CallTime;
  readonly caller: Caller;
}

class Connection implements McpSession {
  readonly kind: TransportKind;
  readonly client: Client;
  readonly closed: Promise<string | undefined>;
  readonly #server: McpServerSettings;
  readonly #options: SessionOptions;
  readonly #transport: Transport;
  readonly #ended = new AbortController();
  readonly #calls = new Set<RunningCall>();
  #signal: AbortSignal = this.#ended.signal;
  #catalog: ServerCatalog | undefined;
  #lost: string | undefined;

  constructor(kind: TransportKind, server: McpServerSettings, options: SessionOptions, agreement: Agreement) {
    this.kind = kind;
    this.#server = server;
    this.#options = options;
    this.#transport = createTransport(kind, server, options);
    this.client = new Client(
      { name: "maxclaw", version: options.version },
      {
        versionNegotiation: negotiationOf(agreement, options.limits),
        capabilities: options.asks === true ? { elicitation: { form: {}, url: {} } } : {},
      },
    );
    if (options.asks === true)
      this.client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) => this.#ask(params, mcpReq.signal));
    this.closed = new Promise((resolve) => {
      this.client.onclose = () => {
        this.#ended.abort();
        resolve(this.#reason ?? this.#lost);
      };
    });
    this.client.onerror = (error) => {
      this.#lost = clauseOf(error);
      if (isFatal(this.#lost)) void this.client.close();
    };
    this.client.setNotificationHandler("notifications/tools/list_changed", () => options.onChanged());
  }

  get catalog(): ServerCatalog {
    if (this.#catalog === undefined) throw new Error("the server has not been asked for its tools");
    return this.#catalog;
  }

  get isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  get isOlder(): boolean {
    return this.client.getProtocolEra() === "legacy";
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.pid : undefined;
  }

  /** Its process ended of itself. */
  get endedItself(): boolean {
    return this.#transport instanceof StdioTransport && this.#transport.endedItself;
  }

  get #reason(): string | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.reason : undefined;
  }

  async open(signal: AbortSignal): Promise<this> {
    const { limits, onChanged } = this.#options;
    this.#signal = signal;
    try {
      await this.#within(limits.initialiseMs, "initialising", () =>
        this.client.connect(this.#transport, { timeout: limits.initialiseMs }),
      );
      this.#catalog = await this.refresh();
      if (!this.isOlder && this.client.getServerCapabilities()?.tools?.listChanged === true)
        void followChanges(this, { limits, onChanged, signal: this.#ended.signal });
      return this;
    } catch (error) {
      // A transport that never got to its start is not closed by its client.
      await Promise.allSettled([this.close(), this.#transport.close()]);
      throw error;
    }
  }

  async refresh(): Promise<ServerCatalog> {
    const { listMs } = this.#options.limits;
    return await this.#within(listMs, "listing its tools", (limit) => readCatalog(this.client, listMs, limit));
  }

  async call<T>(work: (options: CallOptions) => Promise<T>, caller: Caller): Promise<T> {
    using time = new CallTime(this.#server.callMs, caller.signal);
    const running = { time, caller };
    this.#calls.add(running);
    try {
      return await work({ signal: time.signal, timeout: endless });
    } catch (error) {
      // The client would say it in its own words.
      if (time.signal.reason instanceof CallTimeout) throw time.signal.reason;
      throw error;
    } finally {
      this.#calls.delete(running);
    }
  }

  async callTool(
    { name, inputSchema }: ToolInfo,
    input: Record<string, unknown>,
    caller: Caller,
  ): Promise<CallToolResult> {
    // Without the schema of its output: no result is checked, and no validator is kept for each tool.
    const toolDefinition = { name, inputSchema };
    return await this.call(
      (options) => this.client.callTool({ name, arguments: input }, { ...options, toolDefinition }),
      caller,
    );
  }

  async answers(): Promise<boolean> {
    const options = { timeout: pingMs };
    const asked: Promise<unknown> = this.isOlder ? this.client.ping(options) : this.client.discover(options);
    return await asked.then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    const transport = this.#transport;
    // So that the server need not keep what nobody comes back to.
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined)
      await settledWithin(transport.terminateSession(), { ms: this.#options.limits.stopMs });
    await this.client.close().catch(() => undefined);
  }

  /** Where more than one call runs nobody can say in which chat the question belongs. */
  async #ask(request: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult> {
    const [only, ...others] = this.#calls;
    if (only === undefined) return { action: "decline" };
    if (others.length > 0) {
      const why =
        "other calls were running on the same server, so it was not clear whom to ask; make one call at a time";
      for (const { caller } of [only, ...others]) caller.onDeclined(why);
      return { action: "decline" };
    }
    using asking = linked(signal);
    const leave = (): void => asking.abort();
    for (const one of [this.#ended.signal, only.time.signal]) one.addEventListener("abort", leave, { once: true });
    try {
      return await only.time.rest(() => only.caller.asker(request, asking.signal));
    } finally {
      for (const one of [this.#ended.signal, only.time.signal]) one.removeEventListener("abort", leave);
    }
  }

  async #within<T>(ms: number, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = this.#signal;
    using limit = linked(signal, ms);
    try {
      return await within(work(limit.signal), limit);
    } catch (error) {
      const timedOut = limit.signal.aborted && !signal.aborted;
      throw explain(error, this.#reason, this.#lost, { what, ms, timedOut });
    }
  }
}

/** More than a timer takes would be none at all. */
const endless = 2 ** 31 - 1;
