import { isAbortError, messageOf, ProviderError } from "../errors.js";
import type { Payload } from "../events/catalogue.js";
import type { EventDraft } from "../events/event.js";
import type { Machines } from "../events/machines/run-machines.js";
import type { ChosenModel, ModelRequest } from "../providers/provider.js";
import { newId } from "../util/ids.js";
import { sleep } from "../util/sleep.js";
import type { TurnLog } from "./turn-log.js";

export type Answer =
  | {
      readonly status: "answered";
      /** The message, when the answer was not empty. */
      readonly message: Payload<"assistant_message"> | undefined;
      /** What has not been written yet: the message and what belongs to it. */
      readonly unwritten: readonly EventDraft[];
      readonly stopReason: string;
    }
  /** What there was of it has been written as partial. */
  | {
      readonly status: "interrupted";
      readonly partialMessageId: string | undefined;
      readonly unwritten: readonly EventDraft[];
    }
  | { readonly status: "failed"; readonly error: ProviderError; readonly unwritten: readonly EventDraft[] };

export interface ModelCall {
  readonly chosen: ChosenModel;
  readonly request: ModelRequest;
  readonly iteration: number;
  readonly maxAttempts: number;
  /** A smaller request after the provider said that this one was too long; undefined when there is none. */
  readonly shrink: () => Promise<ModelRequest | undefined>;
}

const baseDelayMs = 1000;
/** A provider that names a longer wait is told to the person instead of being waited for. */
const longestWaitMs = 60_000;

/** Asks the model once, again after failures that pass by themselves, and streams what it says. */
export async function callModel(
  call: ModelCall,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Answer> {
  log.modelSource = `provider:${call.chosen.provider.name}`;
  let { request } = call;
  for (let attempt = 1; ; attempt++) {
    const messageId = newId("msg");
    const outcome = await streamOnce({ ...call, request }, messageId, log, machines, signal);
    if (outcome.status === "answered") return outcome.answer;
    if (outcome.status === "interrupted") {
      const { stream, stored } = machines.feed({ kind: "interrupted" });
      const partial = stored.find((output) => output.type === "assistant_message");
      await log.tell({ stream, stored: [] });
      return {
        status: "interrupted",
        partialMessageId: partial?.type === "assistant_message" ? partial.payload.message_id : undefined,
        unwritten: log.stored(stored),
      };
    }
    const { error } = outcome;
    const delayMs = error.retryAfterMs ?? baseDelayMs * 2 ** (attempt - 1);
    const smaller = error.kind === "context_overflow" ? await shrunk(call, signal) : undefined;
    const willRetry =
      smaller !== undefined || (error.retryable && attempt < call.maxAttempts && delayMs <= longestWaitMs);
    const outputs = machines.feed({ kind: "stream_failed", code: error.code, willRetry });
    if (!willRetry) {
      await log.tell({ stream: outputs.stream, stored: [] });
      return { status: "failed", error, unwritten: log.stored(outputs.stored) };
    }
    await log.tell(outputs);
    if (smaller !== undefined) {
      request = smaller;
      continue;
    }
    log.publish(log.draft("llm_retry_scheduled", { attempt, delay_ms: delayMs, code: error.code }));
    await sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Making room asks the model too, which a stop may end. */
async function shrunk(call: ModelCall, signal: AbortSignal): Promise<ModelRequest | undefined> {
  try {
    return await call.shrink();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

type Streamed =
  | { readonly status: "answered"; readonly answer: Answer }
  | { readonly status: "interrupted" }
  | { readonly status: "failed"; readonly error: ProviderError };

async function streamOnce(
  call: ModelCall,
  messageId: string,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Streamed> {
  const { chosen, iteration } = call;
  await log.tell(
    machines.feed({ kind: "stream_started", messageId, model: chosen.label, iteration, price: chosen.price }),
  );
  try {
    signal.throwIfAborted();
    for await (const chunk of chosen.provider.stream(call.request, signal)) {
      signal.throwIfAborted();
      const outputs = machines.feed({ kind: "chunk", chunk });
      if (chunk.kind !== "end") {
        if (outputs.stream.length > 0 || outputs.stored.length > 0) await log.tell(outputs);
        continue;
      }
      await log.tell({ stream: outputs.stream, stored: [] });
      const message = outputs.stored.find((output) => output.type === "assistant_message");
      return {
        status: "answered",
        answer: {
          status: "answered",
          message: message?.type === "assistant_message" ? message.payload : undefined,
          unwritten: log.stored(outputs.stored),
          stopReason: chunk.stopReason,
        },
      };
    }
    throw new ProviderError(`${chosen.provider.name}: the answer ended without its end`, { kind: "garbage" });
  } catch (error) {
    if (signal.aborted) return { status: "interrupted" };
    if (error instanceof ProviderError) return { status: "failed", error };
    if (isAbortError(error)) return { status: "failed", error: unexpected(chosen, error) };
    if (error instanceof Error && error.name === "EngineError") throw error;
    return { status: "failed", error: unexpected(chosen, error) };
  }
}

function unexpected(chosen: ChosenModel, cause: unknown): ProviderError {
  return new ProviderError(`${chosen.provider.name}: ${messageOf(cause)}`, { kind: "garbage", cause });
}
