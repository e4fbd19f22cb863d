import { messageOf, ProviderError } from "../../errors.js";
import type { Payload } from "../../events/catalogue.js";
import type { Usage } from "../../events/content.js";
import type { EventDraft } from "../../events/event.js";
import { answerCost } from "../../events/machines/answer.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { ModelUse } from "../../events/model-use.js";
import type { ChosenModel, ModelChain, ModelRequest, ProviderChunk } from "../../providers/provider.js";
import { backoffMs } from "../../util/async/backoff.js";
import { sleep } from "../../util/async/sleep.js";
import { newId } from "../../util/ids.js";
import type { TurnLog } from "../turn/turn-log.js";
import { CallMeter } from "./cut-use.js";

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
      /** It was longer than is taken from a model. */
      readonly isCut: boolean;
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
  /** Gets the body of each request when it is on its way. */
  readonly onSend?: ((model: ChosenModel, body: Uint8Array) => void) | undefined;
  readonly iteration: number;
  /** Attempts at each model. */
  readonly maxAttempts: number;
  /** Makes the request smaller after the provider said that it was too long; false when nothing can be left out. */
  readonly shrink: (model: ChosenModel) => Promise<boolean>;
  /** The pause before the second attempt; each further one is twice as long. */
  readonly retryDelayMs: number;
  /** An answer was cut, and what it has used is to be counted. `isKept`: a message is left of it. */
  readonly onCut: (spent: ModelUse, isKept: boolean) => void;
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
      const { spent } = outcome;
      const { stream, stored } = machines.feed({ kind: "interrupted", spent });
      const partial = stored.find((output) => output.type === "assistant_message");
      if (spent !== undefined) call.onCut(spent, partial !== undefined);
      await log.writeOutputs({ stream, stored: [] });
      return {
        status: "interrupted",
        partialMessageId: partial?.type === "assistant_message" ? partial.payload.message_id : undefined,
        unwritten: log.stored(stored),
      };
    }
    const { error, spent } = outcome;
    const isSmaller = error.kind === "context_overflow" && (await shrink(call, model, signal));
    const delayMs = isSmaller ? 0 : (error.retryAfterMs ?? backoffMs(attempt, { firstMs: call.retryDelayMs }));
    const isAgain = isSmaller || (error.retryable && attempt < call.maxAttempts && delayMs <= maxWaitMs);
    const isFinal = !isAgain && (!call.chain.failed(model, error).next || isLast);
    const failed = { kind: "stream_failed", code: error.code, willRetry: !isFinal, spent } as const;
    const outputs = machines.feed(failed);
    if (spent !== undefined)
      call.onCut(
        spent,
        outputs.stored.some(({ type }) => type === "assistant_message"),
      );
    if (isFinal) {
      await log.writeOutputs({ stream: outputs.stream, stored: [] });
      return { status: "failed", error, unwritten: log.stored(outputs.stored), isFinal };
    }
    await log.writeOutputs(outputs);
    if (!isSmaller)
      log.publish(
        log.draft("llm_retry_scheduled", { attempt, delay_ms: isAgain ? Math.round(delayMs) : 0, code: error.code }),
      );
    if (!isAgain) return { status: "failed", error, unwritten: [], isFinal };
    await sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Making room asks the model too, which a stop may end. */
async function shrink(call: ModelCall, model: ChosenModel, signal: AbortSignal): Promise<boolean> {
  try {
    return await call.shrink(model);
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** The failure of the model that was meant, with what happened to its stand-ins. */
function allOf(errors: readonly ProviderError[]): ProviderError {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first ?? new ProviderError("", { kind: "garbage" });
  return new ProviderError(errors.map(({ message }) => message).join(" Then: "), {
    kind: first.kind,
    status: first.status,
    provider: first.provider,
    unreached: first.unreached,
    retryable: errors.some(({ retryable }) => retryable),
    cause: first,
  });
}

type Streamed =
  | { readonly status: "answered"; readonly answer: Extract<Answer, { readonly status: "answered" }> }
  /** `spent`: absent while nothing had been asked. */
  | { readonly status: "interrupted"; readonly spent: ModelUse | undefined }
  /** `spent`: absent where the model had not begun. */
  | { readonly status: "failed"; readonly error: ProviderError; readonly spent: ModelUse | undefined };

async function streamOnce(
  call: ModelCall,
  model: ChosenModel,
  log: TurnLog,
  machines: Machines,
  signal: AbortSignal,
): Promise<Streamed> {
  let meter: CallMeter | undefined;
  const begin = async (): Promise<void> => {
    const { label, price } = model;
    const { iteration } = call;
    await log.writeOutputs(
      machines.feed({ kind: "stream_started", messageId: newId("msg"), model: label, iteration, price }),
    );
  };
  await begin();
  try {
    signal.throwIfAborted();
    meter = new CallMeter(model, { ...call.request(model), onSend: (body) => call.onSend?.(model, body) });
    for await (const chunk of model.provider.stream(meter.request, signal)) {
      signal.throwIfAborted();
      meter.take(chunk);
      if (chunk.kind === "end")
        return { status: "answered", answer: await endAnswer(chunk, model, meter, log, machines) };
      // What has been streamed as text cannot be taken back: the answer is streamed again, as a message of its own.
      if (chunk.kind === "was_thinking") await begin();
      const shown = chunk.kind === "was_thinking" ? ({ kind: "thinking", text: chunk.text } as const) : chunk;
      const outputs = machines.feed({ kind: "chunk", chunk: shown });
      if (outputs.stream.length > 0 || outputs.stored.length > 0) await log.writeOutputs(outputs);
    }
    throw new ProviderError(`${model.provider.name}: the answer broke off`, { kind: "garbage" });
  } catch (error) {
    if (signal.aborted) return { status: "interrupted", spent: meter?.spent() };
    const spent = meter?.hasBegun === true ? meter.spent() : undefined;
    if (error instanceof ProviderError) return { status: "failed", error, spent };
    if (error instanceof Error && error.name === "EngineError") throw error;
    return { status: "failed", error: unexpected(model, error), spent };
  }
}

type EndChunk = Extract<ProviderChunk, { readonly kind: "end" }>;

async function endAnswer(
  end: EndChunk,
  model: ChosenModel,
  meter: CallMeter,
  log: TurnLog,
  machines: Machines,
): Promise<Extract<Answer, { readonly status: "answered" }>> {
  const chunk = end.isCut === true ? withGuess(end, meter.spent()) : end;
  const outputs = machines.feed({ kind: "chunk", chunk });
  await log.writeOutputs({ stream: outputs.stream, stored: [] });
  const message = outputs.stored.find((output) => output.type === "assistant_message");
  return {
    status: "answered",
    model,
    message: message?.type === "assistant_message" ? message.payload : undefined,
    unwritten: log.stored(outputs.stored),
    stopReason: chunk.stopReason,
    isCut: chunk.isCut === true,
    usage: chunk.usage,
    costUsd: answerCost(chunk, model.price),
  };
}

/** Anyone who cuts an answer does not hear all that it has used. */
function withGuess(end: EndChunk, { usage, cost_usd: cost, guess }: ModelUse): EndChunk {
  return { ...end, usage, ...(cost === undefined ? {} : { costUsd: cost }), guess };
}

function unexpected(model: ChosenModel, cause: unknown): ProviderError {
  return new ProviderError(`${model.provider.name}: ${messageOf(cause)}`, { kind: "garbage", cause });
}
