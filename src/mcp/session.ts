import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  ListToolsResultSchema,
  type Tool as ToolInfo,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../errors.js";
import { linked } from "../util/async/linked.js";
import { settledWithin, within } from "../util/async/within.js";
import { cutText } from "../util/text/cut-text.js";
import { LoginNeeded, MoreLoginNeeded } from "./oauth.js";
import type { McpServerSettings } from "./settings.js";
import { StdioTransport } from "./stdio-transport.js";
import { createTransport, kindsOf, type TransportKind, type TransportOptions } from "./transports.js";

const maxTools = 1000;
const maxPages = 50;
/** Of one tool with its schemas. */
const maxToolChars = 64_000;
const pingMs = 5000;

/** What a server offers. */
export interface ServerCatalog {
  readonly tools: readonly ToolInfo[];
  /** Names of tools that are too large to be offered. */
  readonly tooLarge: readonly string[];
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
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
  callTool(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  /** Lists the tools again. */
  refresh(): Promise<ServerCatalog>;
  /** False: it does not even answer that it is there. */
  answers(): Promise<boolean>;
  close(): Promise<void>;
}

export interface SessionOptions extends TransportOptions {
  readonly version: string;
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
  const { limits } = options;
  const transport = await createTransport(kind, server, options);
  const client = new Client({ name: "maxclaw", version: options.version });
  let lost: string | undefined;
  let isClosed = false;
  const closed = new Promise<string | undefined>((resolve) => {
    client.onclose = () => {
      isClosed = true;
      resolve(reasonOf(transport) ?? lost);
    };
  });
  client.onerror = (error) => {
    lost = clauseOf(error);
    if (isFatal(lost)) void client.close();
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onChanged());
  const close = async (): Promise<void> => {
    // So that the server need not keep what nobody comes back to.
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined)
      await settledWithin(transport.terminateSession(), { ms: limits.stopMs });
    await client.close().catch(() => undefined);
  };
  const inTime = async <T>(ms: number, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    using limit = linked(signal, ms);
    try {
      return await within(work(limit.signal), limit);
    } catch (error) {
      throw explain(error, transport, lost, { what, ms, timedOut: limit.signal.aborted && !signal.aborted });
    }
  };
  const list = async (): Promise<ServerCatalog> =>
    await inTime(limits.listMs, "listing its tools", (limit) => readCatalog(client, limits.listMs, limit));
  try {
    await inTime(limits.initialiseMs, "initialising", () =>
      client.connect(transport, { timeout: limits.initialiseMs }),
    );
    const catalog = await list();
    return {
      kind,
      catalog,
      client,
      closed,
      get isClosed() {
        return isClosed;
      },
      pid: transport instanceof StdioTransport ? transport.pid : undefined,
      refresh: list,
      close,
      // Not `client.callTool`: that would check results, and keep a validator for each tool.
      callTool: async (name, input, callSignal) =>
        await client.request({ method: "tools/call", params: { name, arguments: input } }, CallToolResultSchema, {
          timeout: server.callMs,
          signal: callSignal,
        }),
      answers: () =>
        client.ping({ timeout: pingMs }).then(
          () => true,
          () => false,
        ),
    };
  } catch (error) {
    // A transport that never got to its start is not closed by its client.
    await Promise.allSettled([close(), transport.close()]);
    throw error;
  }
}

async function readCatalog(client: Client, timeout: number, signal: AbortSignal): Promise<ServerCatalog> {
  const capabilities = client.getServerCapabilities() ?? {};
  const tools: ToolInfo[] = [];
  const tooLarge: string[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; capabilities.tools !== undefined && page < maxPages && tools.length < maxTools; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: "tools/list", params }, ListToolsResultSchema, { timeout, signal });
    const fresh = result.tools.filter(({ name }) => !seen.has(name) && seen.add(name));
    for (const tool of fresh) {
      if (isTooLarge(tool)) tooLarge.push(cutText(tool.name, 80));
      else if (tool.execution?.taskSupport !== "required") tools.push(tool);
    }
    cursor = result.nextCursor;
    // Some servers give the first page for every cursor.
    if (cursor === undefined || fresh.length === 0) break;
  }
  return {
    tools: tools.slice(0, maxTools),
    tooLarge: tooLarge.slice(0, 10),
    hasResources: capabilities.resources !== undefined,
    hasPrompts: capabilities.prompts !== undefined,
  };
}

function isTooLarge(tool: ToolInfo): boolean {
  try {
    return JSON.stringify(tool).length > maxToolChars;
  } catch {
    // Nested deeper than can be written again, which would fail each request that offers it.
    return true;
  }
}

interface Phase {
  readonly what: string;
  readonly ms: number;
  readonly timedOut: boolean;
}

/** What a person can make something of: the process' own end says more than the client's "connection closed". */
function explain(error: unknown, transport: Transport, lost: string | undefined, { what, ms, timedOut }: Phase): Error {
  if (error instanceof LoginNeeded || isUnknownHere(error)) return error;
  if (error instanceof MoreLoginNeeded) return new LoginNeeded(error.message);
  if (error instanceof StreamableHTTPError && (error.code === 401 || error.code === 403))
    return new LoginNeeded(`it answered with HTTP ${error.code}`);
  if (/\b401\b|unauthorized/i.test(messageOf(error))) return new LoginNeeded(messageOf(error));
  const reason = reasonOf(transport);
  if (reason !== undefined) return new Error(reason, { cause: error });
  if (timedOut || /timed out/i.test(messageOf(error)))
    return new Error(`${what} took more than ${ms / 1000} s`, { cause: error });
  return new Error(causeOf(error) ?? lost ?? clauseOf(error), { cause: error });
}

/** Only a new session helps: the SDK has given up on the stream, or, with SSE, comes back as somebody else, or it is too much. */
function isFatal(reason: string): boolean {
  return /^Maximum reconnection attempts|^SSE error|the server sent a message of more than/.test(reason);
}

/** An error in one clause, whatever page of HTML or list of problems it holds. */
export function clauseOf(error: unknown): string {
  const text = messageOf(error).replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, "");
  const isNone = error instanceof SyntaxError || (error instanceof Error && error.name.endsWith("ZodError"));
  if (isNone) return "what it answers is not MCP";
  const isAnswer = error instanceof StreamableHTTPError && (error.code ?? 0) > 0;
  return cutText(isAnswer ? `it answered with HTTP ${error.code}: ${text}` : text, 300);
}

/** `fetch failed` says nothing; its cause does. */
export function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { cause } = error;
  if (cause instanceof Error && cause.message !== "") return cause.message;
  return cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
}

/** The server does not know this transport, so that the older one may be tried. */
function isUnknownHere(error: unknown): error is Error {
  return error instanceof StreamableHTTPError && [400, 404, 405, 406].includes(error.code ?? 0);
}

function reasonOf(transport: Transport): string | undefined {
  return transport instanceof StdioTransport ? transport.reason : undefined;
}
