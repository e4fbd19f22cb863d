import { isAbortError } from "../errors.js";
import { AnswerMeter } from "./answer-meter.js";
import type { ModelRequest, NamedUsage, ProviderChunk } from "./provider.js";
import { isErrorBody } from "./wire/error-body.js";
import { errorInBody, type FailureContext, garbage, toProviderError } from "./wire/errors.js";
import type { WireAnswer } from "./wire/post.js";
import { CallWatch, type TimeLimits } from "./wire/timeouts.js";
import { type WireEvent, WireReader } from "./wire/wire-events.js";

/** What every provider behind an HTTP address is made from. */
export interface HttpProviderOptions {
  /** Key in the config file. */
  readonly name: string;
  /** Absent for servers that want none. Sent to `apiBase` and nowhere else. */
  readonly apiKey?: string | undefined;
  readonly apiBase: string;
  /** Sent with each request, besides what the API itself wants. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Partial<TimeLimits> | undefined;
}

/** What no error message may show. */
export function secretsOf(options: HttpProviderOptions): readonly string[] {
  // Short header values are not secrets, and hiding them would garble the text.
  return [options.apiKey ?? "", ...Object.values(options.headers ?? {}).filter((value) => value.length >= 8)];
}

/** Turns one wire's events into chunks. */
export interface AnswerReader {
  /** Chunks of one event; none for an event that nobody knows. */
  read(event: unknown): Iterable<ProviderChunk>;
  /** No event follows: the server has said so, or its body has just ended. */
  close(isSaid: boolean): void;
  /** True once the model has said why it stopped, or its server that this was all. */
  readonly isComplete: boolean;
  /** The tokens that the answer has named so far; undefined while it has named none. */
  readonly named: NamedUsage | undefined;
  /** What is due after the last event, `end` included. */
  end(): Iterable<ProviderChunk>;
}

interface ModelCall {
  readonly limits: TimeLimits;
  readonly failure: FailureContext;
  readonly reader: AnswerReader;
  readonly onUsage: ModelRequest["onUsage"];
  /** Sends the request; the answer's body is still unread. */
  readonly send: (signal: AbortSignal) => Promise<Pick<WireAnswer, "headers" | "body">>;
  /** The events that the same answer would have had as a stream. */
  readonly eventsOfWhole: (body: unknown) => Iterable<unknown>;
}

/** Makes one call and streams its answer, within the limits. What it throws is a ProviderError or the abort. */
export async function* callModel(call: ModelCall, signal: AbortSignal): AsyncGenerator<ProviderChunk> {
  signal.throwIfAborted();
  using watch = new CallWatch(call.failure.provider, call.limits, signal);
  const { reader } = call;
  const meter = new AnswerMeter();
  const reportUsage = usageReporter(call);
  try {
    const response = await call.send(watch.signal);
    watch.touch();
    // A promise for each piece of the body, and none for each event in it.
    for await (const events of eventsOf(call, response, watch))
      for (const event of events) {
        for (const chunk of meter.within(reader.read(event))) {
          watch.pause();
          yield chunk;
          watch.resume();
        }
        reportUsage();
        // Leaving ends the connection.
        if (meter.isFull) return yield meter.end(reader.named);
        // Some servers leave the connection open after their last word.
        if (reader.isComplete) watch.close();
      }
    reader.close(false);
  } catch (error) {
    // What went wrong after the model's last word takes nothing from its answer.
    if (!reader.isComplete && !signal.aborted) {
      throw watch.expired ?? (isAbortError(error) ? cutShort(call.failure) : toProviderError(error, call.failure));
    }
  }
  signal.throwIfAborted();
  if (!reader.isComplete) throw watch.expired ?? cutShort(call.failure);
  for (const chunk of meter.within(reader.end())) yield chunk;
  if (meter.isFull) yield meter.end(reader.named);
}

function usageReporter({ reader, onUsage }: ModelCall): () => void {
  let reported: NamedUsage | undefined;
  return () => {
    const { named } = reader;
    if (named === undefined || named === reported) return;
    reported = named;
    onUsage?.(named);
  };
}

function cutShort(context: FailureContext): Error {
  return garbage(context, `${context.provider} ended the stream in the middle of its answer.`, true);
}

/** What is in the body, for each of its pieces. */
async function* eventsOf(
  call: ModelCall,
  response: Pick<WireAnswer, "headers" | "body">,
  watch: CallWatch,
): AsyncGenerator<Iterable<unknown>> {
  const { provider } = call.failure;
  if (response.headers.get("content-type")?.toLowerCase().includes("text/html") === true) throw webPage(call.failure);
  const wire = new WireReader();
  let isEmpty = true;
  const known = function* (events: Iterable<WireEvent>): Generator<unknown> {
    for (const event of events) {
      isEmpty = false;
      yield* valuesOf(call, event);
    }
  };
  for await (const piece of response.body ?? []) {
    watch.touch();
    yield known(wire.read(piece));
  }
  watch.end();
  yield known(wire.end());
  if (isEmpty) throw garbage(call.failure, `${provider} sent an empty answer.`, true);
}

function* valuesOf(call: ModelCall, event: WireEvent): Generator<unknown> {
  if (event.kind === "page") throw webPage(call.failure);
  if (event.kind === "done") {
    call.reader.close(true);
    // What has been read is reported, and the body is read to its end.
    return yield undefined;
  }
  const { value } = event;
  if (isErrorBody(value, event.kind === "event" ? event.name : undefined)) throw errorInBody(value);
  if (event.kind === "event") yield value;
  else for (const whole of Array.isArray(value) ? value : [value]) yield* call.eventsOfWhole(whole);
}

function webPage(failure: FailureContext): Error {
  const { provider, apiBase } = failure;
  return garbage(
    failure,
    `${provider} at ${apiBase} answered with a web page instead of a model's answer. Check providers.${provider}.apiBase.`,
    false,
  );
}
