import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import { checked } from "../api/commands/checked.js";
import type { GatewayApi } from "../api/gateway-api.js";
import { RequestError } from "../errors.js";
import type { FaultReply } from "./faults.js";
import type { Caller, Guard } from "./guard.js";
import { readJson } from "./json.js";
import type { HttpSettings } from "./options.js";
import type { Target } from "./target.js";

/** One request and its answer, as a route sees them. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  /** The decoded `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly api: GatewayApi;
  readonly settings: HttpSettings;
  readonly guard: Guard;
  /** Who asks. */
  readonly caller: Caller;
  /** Aborts when the client goes away, its device is signed out, or the server stops. */
  readonly signal: AbortSignal;
  /** Counts this answer as a long-lived connection. @throws {RequestError} 503 when there are too many */
  holdOpen(): void;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": bytes.length,
    "Cache-Control": "no-store",
  });
  response.end(bytes);
}

const slowMs = 5000;

/**
 * For an answer that may take longer than a client waits for one: from time to time a blank, which JSON may begin with,
 * says that it is under way.
 */
export async function sendSlowJson(response: ServerResponse, work: Promise<unknown>, everyMs = slowMs): Promise<void> {
  const timer = setInterval(() => {
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" });
    response.write(" ");
  }, everyMs);
  let body: unknown;
  try {
    body = await work;
  } finally {
    clearInterval(timer);
  }
  if (!response.headersSent) sendJson(response, 200, body);
  else if (!response.destroyed) response.end(JSON.stringify(body));
}

export function sendFault(
  response: ServerResponse,
  fault: FaultReply,
  toBody: (fault: FaultReply) => object = ({ error, code, state }) => ({ error, code, state }),
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (fault.retryAfterMs !== undefined)
    response.setHeader("Retry-After", Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  if (fault.status === 408) response.setHeader("Connection", "close");
  if (fault.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
  sendJson(response, fault.status, toBody(fault));
}

/** The request's body, checked. @throws {RequestError} 400, 413 */
export function bodyOf<T>(exchange: Exchange, schema: z.ZodType<T>): Promise<T> {
  const { limits, timings } = exchange.settings;
  return readJson(exchange.request, schema, { ...limits, ...timings, signal: exchange.signal });
}

/** The same where a request without a body counts as one with an empty object. */
export async function optionalBodyOf<T>(exchange: Exchange, schema: z.ZodType<T>): Promise<T> {
  const { "content-length": length, "transfer-encoding": transfer } = exchange.request.headers;
  const isEmpty = transfer === undefined && (length === undefined || length === "0");
  return isEmpty ? checked({}, schema) : await bodyOf(exchange, schema);
}

/**
 * The revision that a change was made from, where the client has named one.
 *
 * @throws {RequestError} 412 for anything but one revision: who names something wants no overwriting
 */
export function revisionOf({ request }: Pick<Exchange, "request">): string | undefined {
  const header = request.headers["if-match"];
  if (header === undefined) return undefined;
  const revision = /^\s*(?:W\/)?"?([0-9a-f]+)"?\s*$/.exec(header)?.[1];
  if (revision !== undefined) return revision;
  const message = "If-Match takes one revision, the ETag of what you have read. Nothing was changed.";
  throw new RequestError(message, { status: 412, code: "changed" });
}

/** A part of the path that the route's pattern names. */
export function paramOf(exchange: Exchange, name: string): string {
  const value = exchange.params[name];
  if (value === undefined) throw new Error(`the route has no :${name}`);
  return value;
}

/** The last seq of a session, 0 for one that does not exist yet. */
export async function lastSequenceOf(x: Exchange, sessionKey: string): Promise<number> {
  try {
    return (await x.api.sessionStatus(sessionKey, { includeRecovery: false })).lastSequence;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return 0;
    throw error;
  }
}
