import { messageOf, ProviderError } from "../errors.js";
import type { Payload } from "../events/catalogue.js";
import type { Usage } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import { answerCost } from "../events/machines/answer.js";
import type { Machines } from "../events/machines/run-machines.js";
import type { ChosenModel, ModelChain, ModelRequest, ProviderChunk } from "../providers/provider.js";
import { newId } from "../util/ids.js";
import { sleep } from "../util/sleep.js";
import type { TurnLog } from "./turn-log.js";

export type Answer =
  | {
      readonly status: "answered";
      /** Which model of the chain gave it. */
      readonly model: ChosenModel;
      /** The message, when the answer was not empty. */
      readonly message: Payload<"assistant_message"> | undefined;
      /** What has not been written yet: the message and what belongs to it. */
      readonly unwritten: readonly EventDraft[];
      readonly stopReason: string;
      readonly usage: Usage;
      readonly costUsd: number | undefined;
    }
  /** What there was of it has been written as partial. */
  | {
      readonly status: "interrupted";
      readonly partialMessageId: string | undefined;
      readonly unwritten: readonly EventDraft[];
    }
  | { readonly status: "failed"; readonly error: ProviderError; readonly unwritten: readonly EventDraft[] };

export interface ModelCall {
  readonly chain: ModelChain;
  readonly request: (model: ChosenModel) => ModelRequest;
  readonly iteration: number;
  /** Attempts at each model. */
  readonly maxAttempts: number;
  /** Makes the request smaller after the provider said that it was too long; false when nothing can be left out. */
  readonly shrink: (model: ChosenModel) => Promise<boolean>;
  /** The pause before the second attempt; each further one is twice as long. */
  readonly retryDelayMs: number;
  /** An answer was cut off, after so many characters: its provider counts it, and tells nobody. */
  readonly onCut: (model: ChosenModel, characters: number) => void;
}

/** A provider that names a longer wait is told to the person instead of being waited for. */
const longestWaitMs = 60_000;
/** The same while another model could answer at once. */
const longestWaitBesideOthersMs = 5000;

/**
 * Asks the models of the chain in turn until one answers: each again after failures that pass by themselves, the next
 * one where that is of use. Streams what they say; an answer that was begun and given up ends with `error`, and what is
 * said in its place is a message of its own.
 */
export async function callModel(
  call: ModelCall,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Answer> {
  const models = call.chain.candidates();
  const errors: ProviderError[] = [];
  for (const [index, model] of models.entries()) {
    const answer = await askModel({ call, model, isLast: index === models.length - 1 }, log, machines, signal);
    if (answer.status !== "failed") return answer;
    errors.push(answer.error);
    if (answer.isFinal) return { status: "failed", error: allOf(errors), unwritten: answer.unwritten };
  }
  throw new Error("A chain of models was empty");
}

interface Ask {
  readonly call: ModelCall;
  readonly model: ChosenModel;
  readonly isLast: boolean;
}

type Failed = Extract<Answer, { readonly status: "failed" }> & { readonly isFinal: boolean };

async function askModel(
  { call, model, isLast }: Ask,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Exclude<Answer, { readonly status: "failed" }> | Failed> {
  log.modelSource = `provider:${model.provider.name}`;
  const maxWaitMs = isLast ? longestWaitMs : longestWaitBesideOthersMs;
  for (let attempt = 1; ; attempt++) {
    const outcome = await streamOnce(call, model, log, machines, signal);
    if (outcome.status === "answered") {
      call.chain.answered(model);
      return outcome.answer;
    }
    if (outcome.status === "interrupted") {
      if (outcome.characters !== undefined) call.onCut(model, outcome.characters);
      const { stream, stored } = machines.feed({ kind: "interrupted" });
      const partial = stored.find((output) => output.type === "assistant_message");
      await log.tell({ stream, stored: [] });
      return {
        status: "interrupted",
        partialMessageId: partial?.type === "assistant_message" ? partial.payload.message_id : undefined,
        unwritten: log.stored(stored),
      };
    }
    const { error, characters = 0 } = outcome;
    // Who refuses from the start sends no bill.
    if (characters > 0) call.onCut(model, characters);
    const isSmaller = error.kind === "context_overflow" && (await shrunk(call, model, signal));
    const delayMs = isSmaller ? 0 : (error.retryAfterMs ?? call.retryDelayMs * 2 ** (attempt - 1));
    const isAgain = isSmaller || (error.retryable && attempt < call.maxAttempts && delayMs <= maxWaitMs);
    const isFinal = !isAgain && (!call.chain.failed(model, error).next || isLast);
    const outputs = machines.feed({ kind: "stream_failed", code: error.code, willRetry: !isFinal });
    if (isFinal) {
      await log.tell({ stream: outputs.stream, stored: [] });
      return { status: "failed", error, unwritten: log.stored(outputs.stored), isFinal };
    }
    await log.tell(outputs);
    if (!isSmaller)
      log.publish(
        log.draft("llm_retry_scheduled", { attempt, delay_ms: isAgain ? Math.round(delayMs) : 0, code: error.code }),
      );
    if (!isAgain) return { status: "failed", error, unwritten: [], isFinal };
    await sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Making room asks the model too, which a stop may end. */
async function shrunk(call: ModelCall, model: ChosenModel, signal: AbortSignal): Promise<boolean> {
  try {
    return await call.shrink(model);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The failure of the model that was meant, with what became of its stand-ins. */
function allOf(errors: readonly ProviderError[]): ProviderError {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first ?? new ProviderError("", { kind: "garbage" });
  return new ProviderError(errors.map(({ message }) => message).join(" Then: "), {
    kind: first.kind,
    status: first.status,
    retryable: errors.some(({ retryable }) => retryable),
    cause: first,
  });
}

type Streamed =
  | { readonly status: "answered"; readonly answer: Extract<Answer, { readonly status: "answered" }> }
  /** `characters`: what had come of the answer; absent while nothing had been asked. */
  | { readonly status: "interrupted"; readonly characters: number | undefined }
  | { readonly status: "failed"; readonly error: ProviderError; readonly characters: number | undefined };

async function streamOnce(
  call: ModelCall,
  model: ChosenModel,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Streamed> {
  const { iteration } = call;
  let characters: number | undefined;
  await log.tell(
    machines.feed({
      kind: "stream_started",
      messageId: newId("msg"),
      model: model.label,
      iteration,
      price: model.price,
    }),
  );
  try {
    signal.throwIfAborted();
    characters = 0;
    for await (const chunk of model.provider.stream(call.request(model), signal)) {
      signal.throwIfAborted();
      const outputs = machines.feed({ kind: "chunk", chunk });
      if (chunk.kind !== "end") {
        characters += lengthOf(chunk);
        if (outputs.stream.length > 0 || outputs.stored.length > 0) await log.tell(outputs);
        continue;
      }
      await log.tell({ stream: outputs.stream, stored: [] });
      const message = outputs.stored.find((output) => output.type === "assistant_message");
      return {
        status: "answered",
        answer: {
          status: "answered",
          model,
          message: message?.type === "assistant_message" ? message.payload : undefined,
          unwritten: log.stored(outputs.stored),
          stopReason: chunk.stopReason,
          usage: chunk.usage,
          costUsd: answerCost(chunk, model.price),
        },
      };
    }
    throw new ProviderError(`${model.provider.name}: the answer ended without its end`, { kind: "garbage" });
  } catch (error) {
    if (signal.aborted) return { status: "interrupted", characters };
    if (error instanceof ProviderError) return { status: "failed", error, characters };
    if (error instanceof Error && error.name === "EngineError") throw error;
    return { status: "failed", error: unexpected(model, error), characters };
  }
}

function lengthOf(chunk: Exclude<ProviderChunk, { readonly kind: "end" }>): number {
  if (chunk.kind === "text" || chunk.kind === "thinking") return chunk.text.length;
  return chunk.kind === "tool_input" ? chunk.json.length : 1;
}

function unexpected(model: ChosenModel, cause: unknown): ProviderError {
  return new ProviderError(`${model.provider.name}: ${messageOf(cause)}`, { kind: "garbage", cause });
}
