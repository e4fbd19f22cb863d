import { addUsage, noUsage, type StopReason, type Usage } from "../content.js";
import { answerCost, settledStopReason } from "./answer.js";
import type { AnswerChunk, CutUse, Machine, MachineInput, MachineOutput, Step, TokenPrice } from "./input.js";

export interface ToolCallSummary {
  readonly id: string;
  readonly name: string;
  readonly is_error: boolean;
  readonly duration_ms: number;
}

/** A turn in numbers. */
export interface TurnSummary {
  readonly turnId: string;
  /** All messages that the turn has taken, in order. */
  readonly messageIds: readonly string[];
  readonly iterations: number;
  /** Over all answers, those of earlier attempts included. */
  readonly usage: Usage;
  /** Absent when no answer had a price. */
  readonly costUsd: number | undefined;
  readonly toolCalls: readonly ToolCallSummary[];
  /** Codes of failed model calls, in order. */
  readonly errors: readonly string[];
  /** Set once an answer has ended otherwise than by asking for tools, or the limit is reached: no further iteration. */
  readonly stopReason: Exclude<StopReason, "tool_use"> | "max_iterations" | "empty" | undefined;
}

export interface TrackedTurn {
  readonly summary: TurnSummary;
  readonly isRunning: boolean;
  /** The answer that is being streamed. */
  readonly stream:
    | { readonly price: TokenPrice | undefined; readonly hasText: boolean; readonly hasCalls: boolean }
    | undefined;
}

const blank: TurnSummary = {
  turnId: "",
  messageIds: [],
  iterations: 0,
  usage: noUsage,
  costUsd: undefined,
  toolCalls: [],
  errors: [],
  stopReason: undefined,
};

/** Sums up a turn and produces its one terminal event. */
export const turnTracker: Machine<TrackedTurn> = {
  name: "turn",
  initial: { summary: blank, isRunning: false, stream: undefined },
  step,
};

function step(state: TrackedTurn, input: MachineInput): Step<TrackedTurn> {
  if (input.kind === "turn_started") {
    const { turnId, messageIds } = input;
    return [{ summary: { ...blank, turnId, messageIds: [...messageIds] }, isRunning: true, stream: undefined }, []];
  }
  if (!state.isRunning) return [state, []];
  if (input.kind === "turn_ended") {
    const terminal = terminalOf(state.summary, input);
    return [{ ...state, isRunning: false, stream: undefined }, [terminal]];
  }
  return [advance(state, input), []];
}

function advance(state: TrackedTurn, input: MachineInput): TrackedTurn {
  const { summary } = state;
  const update = (change: Partial<TurnSummary>): TrackedTurn => ({ ...state, summary: { ...summary, ...change } });
  switch (input.kind) {
    case "messages_joined":
      // What the earlier answer said about the end does not hold for what was asked since.
      return update({ messageIds: [...summary.messageIds, ...input.messageIds], stopReason: undefined });
    case "iteration_started":
      return update({ iterations: Math.max(summary.iterations, input.iteration), stopReason: undefined });
    case "stream_started":
      return { ...state, stream: { price: input.price, hasText: false, hasCalls: false } };
    case "chunk":
      return state.stream === undefined ? state : takeChunk(state, state.stream, input.chunk);
    case "stream_failed":
      return {
        ...update({
          ...withSpent(summary, input.spent),
          errors: [...summary.errors, input.code],
          stopReason: input.willRetry === true ? undefined : "error",
        }),
        stream: undefined,
      };
    case "interrupted":
      return { ...update({ ...withSpent(summary, input.spent), stopReason: "interrupted" }), stream: undefined };
    case "tool_finished":
      return update({ toolCalls: withCall(summary.toolCalls, input) });
    case "answer_stored":
      return update({
        iterations: Math.max(summary.iterations, input.message.iteration),
        usage: addUsage(summary.usage, input.message.usage),
        costUsd: addCost(summary.costUsd, input.message.cost_usd),
        stopReason: input.message.stop_reason === "tool_use" ? undefined : input.message.stop_reason,
      });
    case "limit_reached":
      return update({ stopReason: "max_iterations" });
    default:
      return state;
  }
}

function takeChunk(state: TrackedTurn, stream: NonNullable<TrackedTurn["stream"]>, chunk: AnswerChunk): TrackedTurn {
  switch (chunk.kind) {
    case "text":
      return stream.hasText || chunk.text.trim() === "" ? state : { ...state, stream: { ...stream, hasText: true } };
    case "tool_call":
      return stream.hasCalls ? state : { ...state, stream: { ...stream, hasCalls: true } };
    case "end": {
      const { summary } = state;
      const settled = settledStopReason(chunk.stopReason, stream.hasCalls);
      const isEmpty = settled === "end_turn" && !stream.hasText;
      const costUsd = addCost(summary.costUsd, answerCost(chunk, stream.price));
      const stopReason = settled === "tool_use" ? undefined : isEmpty ? "empty" : settled;
      return {
        ...state,
        summary: { ...summary, usage: addUsage(summary.usage, chunk.usage), costUsd, stopReason },
        stream: undefined,
      };
    }
    default:
      return state;
  }
}

/** A call counts once, however often its end is told. */
function withCall(
  calls: readonly ToolCallSummary[],
  input: Extract<MachineInput, { readonly kind: "tool_finished" }>,
): readonly ToolCallSummary[] {
  const call = {
    id: input.toolCallId,
    name: input.toolName,
    is_error: input.isError,
    duration_ms: Math.max(0, Math.round(input.durationMs)),
  };
  return [...calls.filter((known) => known.id !== call.id), call];
}

/** A cut answer counts in the turn whether a message is left of it or not. */
function withSpent(summary: TurnSummary, spent: CutUse | undefined): Partial<TurnSummary> {
  if (spent === undefined) return {};
  return { usage: addUsage(summary.usage, spent.usage), costUsd: addCost(summary.costUsd, spent.cost_usd) };
}

function addCost(sum: number | undefined, cost: number | undefined): number | undefined {
  return cost === undefined ? sum : (sum ?? 0) + cost;
}

function terminalOf(
  summary: TurnSummary,
  { outcome, durationMs, discarded = [] }: Extract<MachineInput, { readonly kind: "turn_ended" }>,
): MachineOutput {
  const given = discarded.length === 0 ? {} : { discarded: [...discarded] };
  const message_ids = [...summary.messageIds];
  const duration_ms = Math.max(0, Math.round(durationMs));
  switch (outcome.end) {
    case "complete":
      return {
        type: "turn_execution_complete",
        payload: {
          message_ids,
          message_id: outcome.messageId,
          stop_reason: outcome.stopReason,
          ...(outcome.remark === undefined ? {} : { remark: outcome.remark }),
          iterations: summary.iterations,
          usage: summary.usage,
          ...(summary.costUsd === undefined ? {} : { cost_usd: summary.costUsd }),
          duration_ms,
          tool_calls: [...summary.toolCalls],
          errors: [...summary.errors],
          ...given,
        },
      };
    case "failed": {
      const { code, category, message, recoverable, retry, retry_until } = outcome;
      const again = {
        ...(retry === undefined ? {} : { retry }),
        ...(retry_until === undefined ? {} : { retry_until }),
      };
      return {
        type: "turn_execution_failed",
        payload: {
          ...{ message_ids, code, category, message, recoverable, usage: summary.usage, duration_ms },
          ...given,
          ...again,
        },
      };
    }
    case "cancelled":
      return {
        type: "turn_execution_cancelled",
        payload: {
          message_ids,
          reason: outcome.reason,
          mode: outcome.mode,
          ...(outcome.partialMessageId === undefined ? {} : { partial_message_id: outcome.partialMessageId }),
          ...given,
        },
      };
  }
}
