import type { IncomingMessage, ServerResponse } from "node:http";
import type { z } from "zod";
import type { GatewayApi } from "../api/gateway-api.js";
import type { FaultReply } from "./faults.js";
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
  /** Aborts when the client goes away or the server stops. */
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

export function sendFault(response: ServerResponse, fault: FaultReply): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (fault.retryAfterMs !== undefined)
    response.setHeader("Retry-After", Math.max(1, Math.ceil(fault.retryAfterMs / 1000)));
  if (fault.status === 401) response.setHeader("WWW-Authenticate", "Bearer");
  sendJson(response, fault.status, { error: fault.error, code: fault.code });
}

/** The request's body, checked. @throws {RequestError} 400, 413 */
export function bodyOf<T>(exchange: Exchange, schema: z.ZodType<T>): Promise<T> {
  return readJson(exchange.request, schema, exchange.settings.maxBodyBytes);
}

/** A part of the path that the route's pattern names. */
export function paramOf(exchange: Exchange, name: string): string {
  const value = exchange.params[name];
  if (value === undefined) throw new Error(`the route has no :${name}`);
  return value;
}
