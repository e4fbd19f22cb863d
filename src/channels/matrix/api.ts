import { ChannelError } from "../../errors.js";
import { withoutSlashes } from "../../util/text/trim-where.js";
import { type Call, type CallAnswer, callPlatform, jsonOf } from "../wire/call.js";
import { isLoginLost, refusalOf, title } from "./matrix-error.js";

export const callMs = 15_000;
/** Rooms with many people, and all that was missed in many rooms. */
const largestAnswer = 64 * 1024 * 1024;

/** Where the access token comes from. */
export interface TokenSource {
  /** @throws {ChannelError} */
  token(signal: AbortSignal): Promise<string>;
  /** Another token than this one, which the homeserver has refused; undefined: there is none. @throws {ChannelError} */
  renew(refused: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface ApiCall {
  readonly method?: "GET" | "POST" | "PUT";
  /** Behind `/_matrix`, e.g. `/client/v3/sync`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** As JSON, or bytes as they are. */
  readonly body?: object;
  readonly contentType?: string;
  readonly ms?: number;
  readonly maxBytes?: number;
  /** For an error: Matrix refused … */
  readonly what: string;
  /** What it is about is gone where the answer says no. */
  readonly isInRoom?: boolean;
}

/** The client-server API of one homeserver. Nothing is tried again in here, except with a new token. */
export class MatrixApi {
  readonly homeserver: string;
  readonly #tokens: TokenSource;

  constructor(homeserver: string, tokens: TokenSource) {
    this.homeserver = toBase(homeserver);
    this.#tokens = tokens;
  }

  /** The JSON of a success. @throws {ChannelError} `MatrixRefusal` where the homeserver has said why */
  async call(call: ApiCall, signal: AbortSignal): Promise<unknown> {
    return jsonOf(title, await this.fetch(call, signal));
  }

  /** A success as it is. @throws {ChannelError} */
  async fetch(call: ApiCall, signal: AbortSignal): Promise<CallAnswer> {
    const token = await this.#tokens.token(signal);
    try {
      return await request(this.homeserver, call, token, signal);
    } catch (error) {
      const other = isLoginLost(error) ? await this.#tokens.renew(token, signal) : undefined;
      if (other === undefined) throw error;
      return await request(this.homeserver, call, other, signal);
    }
  }
}

/** A call without a token where it is undefined. @throws {ChannelError} */
export async function request(
  homeserver: string,
  call: ApiCall,
  token: string | undefined,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { path, query = {}, body, method, contentType, ms = callMs, maxBytes = largestAnswer } = call;
  const search = new URLSearchParams(query).toString();
  const wire: Call = {
    title,
    url: `${homeserver}/_matrix${path}${search === "" ? "" : `?${search}`}`,
    ...(method === undefined ? {} : { method }),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": contentType ?? "application/json" }),
    },
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
    timeoutMs: ms,
    maxBytes,
  };
  const answer = await callPlatform(wire, signal);
  if (answer.status === 404 && answer.headers.get("content-type")?.includes("json") !== true)
    throw new ChannelError("What answers is not a Matrix homeserver. Check channels.matrix.homeserver.", {
      retryable: true,
    });
  if (answer.status < 200 || answer.status > 399) throw refusalOf(answer, call.what, call.isInRoom);
  return answer;
}

/** @throws {ChannelError} it is not a web address */
export function toBase(homeserver: string): string {
  if (!/^https?:\/\//.test(homeserver) || !URL.canParse(homeserver))
    throw new ChannelError("channels.matrix.homeserver is not a web address: it must begin with https://.");
  return withoutSlashes(homeserver);
}

/** A part of a path. */
export const part = encodeURIComponent;
