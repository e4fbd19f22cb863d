import { isRecord } from "../../client/frames.js";
import { gatewayWords } from "./words.js";

/** The gateway wants a token, or another one. */
export class Unauthorized extends Error {
  /** Somebody has signed this device out; else its days are over, or it never was signed in. */
  readonly isSignedOut: boolean;

  constructor(message: string, isSignedOut: boolean) {
    super(message);
    this.isSignedOut = isSignedOut;
  }
}

/** What the gateway refused, in its own words. `code` is for programs; see docs/http.md. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string | undefined;
  /** The whole answer: some errors name fields. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(message: string, status: number, body: Readonly<Record<string, unknown>>) {
    super(message);
    this.status = status;
    this.code = typeof body.code === "string" ? body.code : undefined;
    this.body = body;
  }
}

/** Nothing came back, or not in time. The browser's own words for that are in its language, and for programmers. */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super(gatewayWords.t("noAnswer"), { cause });
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 15 s. */
  readonly timeoutMs?: number;
}

/**
 * The gateway's routes, each as a path without a leading slash (`api/cron`), so that the page works below any path.
 * All throw {@link NoAnswer} without an answer, {@link Unauthorized} on 401 and {@link Refused} for whatever else is not 2xx.
 */
export interface Api {
  get(path: string, options?: CallOptions): Promise<JsonObject>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<JsonObject>;
  put(path: string, body: unknown, options?: CallOptions): Promise<JsonObject>;
  delete(path: string, options?: CallOptions): Promise<JsonObject>;
  /** The answer as it is: for files, and for headers such as `ETag`. */
  response(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Response>;
}

/** The browser sends the cookie of this device by itself. */
export function createApi(): Api {
  const response: Api["response"] = async (method, path, body, { headers, timeoutMs = 15_000 } = {}) => {
    const request = {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: "no-store" as const,
      signal: AbortSignal.timeout(timeoutMs),
    };
    const answer = await fetch(path, request).catch((error: unknown) => {
      throw new NoAnswer(error);
    });
    if (answer.ok) return answer;
    const said: unknown = await answer.json().catch(() => undefined);
    const fields = isRecord(said) ? said : {};
    if (answer.status === 401) throw new Unauthorized("The gateway asks for its token", fields.code === "signed_out");
    throw new Refused(typeof fields.error === "string" ? fields.error : `HTTP ${answer.status}`, answer.status, fields);
  };
  const call = async (method: string, path: string, body?: unknown, options?: CallOptions): Promise<JsonObject> => {
    const answer = await response(method, path, body, options);
    if (answer.status === 204) return {};
    const said: unknown = await answer.json().catch((error: unknown) => {
      throw new NoAnswer(error);
    });
    if (!isRecord(said)) throw new Refused(`HTTP ${answer.status}`, answer.status, {});
    return said;
  };
  return {
    response,
    get: (path, options) => call("GET", path, undefined, options),
    post: (path, body, options) => call("POST", path, body, options),
    put: (path, body, options) => call("PUT", path, body, options),
    delete: (path, options) => call("DELETE", path, undefined, options),
  };
}

/** The objects of a list that came over the wire. */
export function recordsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
