import { isAbortError } from "../errors.js";
import { errorInBody, type FailureContext, garbage, toProviderError } from "./errors.js";
import type { ProviderChunk } from "./provider.js";
import { openWatch, type TimeLimits, type Watch } from "./timeouts.js";

/** What every provider behind an HTTP address is made from. */
export interface HttpProviderOptions {
  /** Key in the config file. */
  readonly name: string;
  /** Absent for servers that want none. Sent to `apiBase` and nowhere else. */
  readonly apiKey?: string | undefined;
  readonly apiBase: string;
  /** Sent with each request, beside what the API itself wants. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Partial<TimeLimits> | undefined;
}

/** What no error message may show. */
export function secretsOf(options: HttpProviderOptions): readonly string[] {
  // Short header values are no secrets, and hiding them would garble the text.
  return [options.apiKey ?? "", ...Object.values(options.headers ?? {}).filter((value) => value.length >= 8)];
}

/** Turns one wire's events into chunks. */
export interface AnswerReader {
  /** Chunks of one event; none for an event that nobody knows. */
  read(event: unknown): Iterable<ProviderChunk>;
  /** True once the model has said why it stopped. */
  readonly isComplete: boolean;
  /** What is due after the last event, `end` included. */
  end(): Iterable<ProviderChunk>;
}

interface ModelCall {
  readonly limits: TimeLimits;
  readonly failure: FailureContext;
  readonly reader: AnswerReader;
  /** Sends the request; the answer's body is still unread. */
  readonly send: (signal: AbortSignal) => Promise<Response>;
  /** The events of a streamed body; the response has no more than the headers and the body. */
  readonly events: (response: Response, controller: AbortController) => AsyncIterable<unknown>;
  /** The events that the same answer would have had as a stream. */
  readonly eventsOfWhole: (body: unknown) => Iterable<unknown>;
}

/** Makes one call and streams its answer, within the limits. What it throws is a ProviderError or the abort. */
export async function* callModel(call: ModelCall, signal: AbortSignal): AsyncGenerator<ProviderChunk> {
  signal.throwIfAborted();
  using watch = openWatch(call.failure.provider, call.limits, signal);
  const { reader } = call;
  try {
    const response = await call.send(watch.signal);
    watch.touch();
    for await (const event of eventsOf(call, response, watch)) {
      for (const chunk of reader.read(event)) {
        watch.pause();
        yield chunk;
        watch.resume();
      }
      // Some servers leave the connection open after their last word.
      if (reader.isComplete) watch.close();
    }
  } catch (error) {
    // What went wrong after the model's last word takes nothing from its answer.
    if (!reader.isComplete && !signal.aborted) {
      throw watch.expired ?? (isAbortError(error) ? cutShort(call.failure) : toProviderError(error, call.failure));
    }
  }
  // The SDKs end their streams without a word when they are aborted.
  signal.throwIfAborted();
  if (!reader.isComplete) throw watch.expired ?? cutShort(call.failure);
  yield* reader.end();
}

function cutShort({ provider }: FailureContext): Error {
  return garbage(`${provider} ended the stream in the middle of its answer.`, true);
}

async function* eventsOf(call: ModelCall, response: Response, watch: Watch): AsyncGenerator<unknown> {
  const { headers } = response;
  const type = headers.get("content-type")?.toLowerCase() ?? "";
  if (type.includes("text/html")) {
    const { provider, apiBase } = call.failure;
    throw garbage(
      `${provider} at ${apiBase} answered with a web page instead of a model's answer. Check providers.${provider}.apiBase.`,
      false,
    );
  }
  const body = response.body === null ? null : piecesOf(response.body, watch);
  if (!type.includes("json")) {
    // The SDKs read any body that is an async iterable as it is, and no more of a response than this.
    yield* call.events({ headers, body } as unknown as Response, new AbortController());
    return;
  }
  const whole: unknown = JSON.parse(await textOf(body ?? []));
  if (typeof whole === "object" && whole !== null && "error" in whole && whole.error) throw errorInBody(whole);
  yield* call.eventsOfWhole(whole);
}

/** The pieces of a body, each told to the watch. A stream around the stream would cost more than all the rest of the call. */
async function* piecesOf(body: ReadableStream<Uint8Array>, watch: Watch): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    watch.touch();
    yield piece;
  }
  watch.end();
}

async function textOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return new TextDecoder().decode(Buffer.concat(all));
}
