import type { z } from "zod";
import { ChannelError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";
import { neverLeft, whyUnreached } from "../../util/text/why-unreached.js";
import { statusSentence } from "../../util/words/status-sentences.js";

export interface Call {
  /** Who is asked, for people, e.g. `Slack`. */
  readonly title: string;
  /** May hold a secret: it is in no error. */
  readonly url: string;
  /** Default `GET`, with a body `POST`. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData | URLSearchParams;
  /** Until the whole answer is there. */
  readonly timeoutMs: number;
  /** More of an answer is an error. Default 4 MB. */
  readonly maxBytes?: number;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const largestAnswer = 4 * 1024 * 1024;

/**
 * One HTTP request to a platform. Resolves with any answer that is whole, also a refusal, which the platform's own code
 * reads. Follows no redirect: it would carry the token elsewhere.
 *
 * @throws {ChannelError} `retryable`; `outcome: "refused"` when the request cannot have left, `"unknown"` when it may have
 */
export async function callPlatform(call: Call, signal: AbortSignal): Promise<CallAnswer> {
  if (signal.aborted) throw new ChannelError("The call was aborted before it began.", { retryable: true });
  const { title, url, body, method = body === undefined ? "GET" : "POST", maxBytes = largestAnswer } = call;
  const headers = headersOf(call);
  using scope = linked(signal, call.timeoutMs);
  try {
    const response = await fetch(url, { method, body, headers, redirect: "manual", signal: scope.signal });
    return { status: response.status, headers: response.headers, body: await readBounded(response, maxBytes) };
  } catch (error) {
    throw toChannelError(error, title, signal.aborted ? "abort" : scope.signal.aborted ? "timeout" : undefined);
  }
}

/** @throws {ChannelError} a token was pasted with a line break or with quotes of a text: the error of Node would show it */
function headersOf({ title, headers }: Call): Headers {
  try {
    return new Headers(headers);
  } catch {
    const message = `A token for ${title} has a character that no token has. Copy it into the config again.`;
    throw new ChannelError(message, { retryable: true });
  }
}

/** The JSON of an answer. @throws {ChannelError} it is not JSON: a proxy or another program answers there */
export function jsonOf(title: string, { body, status }: CallAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (cause) {
    const outcome = status >= 200 && status < 300 ? "unknown" : "refused";
    const message = `What answers (${status}) is not ${title}. Check its address and the proxy.`;
    throw new ChannelError(message, { cause, retryable: true, outcome });
  }
}

/** What a platform has said. @throws {ChannelError} it is not as documented: what was asked for may be done all the same */
export function asDocumented<T>(title: string, schema: z.ZodType<T>, said: unknown): T {
  const { data, success } = schema.safeParse(said);
  if (success) return data;
  throw new ChannelError(`What ${title} answered is not as documented.`, { retryable: true, outcome: "unknown" });
}

/** About who asks or who answers, and not about what was asked: the token, a proxy, a server in trouble. */
const mayPass: ReadonlySet<number> = new Set([401, 403, 404, 408, 429]);

/**
 * What a status means that is not a success, for platforms that say no more: 429 waits as long as `Retry-After` says,
 * 401, 403, 404 and 5xx may pass, other 4xx are for good. `said`: the platform's own words, without a secret.
 */
export function statusError(title: string, { status, headers }: CallAnswer, said = ""): ChannelError {
  const words = said === "" ? String(status) : `${status}: ${said}`;
  // A 5xx may come from a proxy behind which the message was taken.
  const outcome = status >= 500 && status !== 503 ? "unknown" : "refused";
  const retryable = mayPass.has(status) || status >= 500;
  return new ChannelError(`${title} refused the request (${words}).`, {
    outcome,
    retryable,
    retryAfterMs: retryAfterMs(headers.get("retry-after")),
  });
}

const mayHaveArrived = ": the request may have arrived.";

/** The same failure of a call that shows nobody anything, however it ended: a login, a poll, an upload. */
export function withoutMessage(error: unknown): unknown {
  if (!(error instanceof ChannelError) || error.outcome === "refused") return error;
  const { retryable, retryAfterMs } = error;
  const message = error.message.replace(mayHaveArrived, ".");
  return new ChannelError(message, { outcome: "refused", retryable, retryAfterMs });
}

/** Longer than any platform means it, and than a timer lasts: such a number is a mistake, or worse. */
const longestWaitMs = 24 * 3_600_000;

/** Seconds, or a date; a day at most. Undefined: there is none that can be read. */
export function retryAfterMs(value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(0, Math.ceil(ms)), longestWaitMs) : undefined;
}

/** @throws {ChannelError} it is larger */
async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new ChannelError(`The answer is larger than ${maxBytes} bytes.`, { outcome: "unknown" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a request that failed on the way means for what it carried. The cause is left out: it can hold the address. */
function toChannelError(error: unknown, title: string, cutOff: "timeout" | "abort" | undefined): ChannelError {
  if (error instanceof ChannelError) return error;
  if (cutOff !== undefined) {
    const why = cutOff === "timeout" ? `${title} did not answer in time` : "The call was aborted";
    return new ChannelError(`${why}${mayHaveArrived}`, { outcome: "unknown", retryable: true });
  }
  const why = whyUnreached(error);
  if (neverLeft(error))
    return new ChannelError(statusSentence("unreachable", { title, reason: why ?? "no connection came about" }), {
      retryable: true,
    });
  return new ChannelError(statusSentence("broke_call", { title, reason: why ?? "it was cut" }), {
    outcome: "unknown",
    retryable: true,
  });
}
