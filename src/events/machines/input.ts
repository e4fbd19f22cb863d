import type { AgentState, EventType, Payload } from "../catalogue.js";
import type { StopReason, Usage } from "../content.js";
import type { Guess, ModelUse } from "../model-use.js";

/** What a model's answer is made of, in the order of arrival. The last one is `end`. */
export type AnswerChunk =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  /**
   * All text so far, which is given again, was thinking: the server told it as text. The text begins again. The loop begins
   * the message again for it: the machines ignore it.
   */
  | { readonly kind: "was_thinking"; readonly text: string }
  /** Closes the thinking so far with the provider's proof of it. */
  | { readonly kind: "thinking_signature"; readonly signature: string }
  | { readonly kind: "tool_call"; readonly id: string; readonly name: string }
  /** A piece of the call's JSON. Pieces of several calls may alternate. */
  | { readonly kind: "tool_input"; readonly id: string; readonly json: string }
  | {
      readonly kind: "end";
      readonly stopReason: Exclude<StopReason, "interrupted" | "error">;
      readonly usage: Usage;
      /** What the provider itself says that the call has cost; goes before any price. */
      readonly costUsd?: number;
      /** The answer was longer than is taken from a model: we cut it, and `usage` is what had been named by then. */
      readonly isCut?: boolean;
      /** Added by who asked, for such an answer: what it has probably used beyond `usage`. */
      readonly guess?: Guess | undefined;
    };

/** USD for a million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** What a model costs. */
export interface TokenPrice extends Rates {
  /** What all tokens of a call cost whose prompt is longer than `tokens`. */
  readonly above?: (Rates & { readonly tokens: number }) | undefined;
}

/** What an answer has used that was cut: what its stream had named by then, and a guess at the rest. */
export type CutUse = Omit<ModelUse, "model">;

/** USD for a million tokens (the provider contract's `Price`). */
export interface TokenPrice extends Rates {
  readonly above?: (Rates & { readonly tokens: number }) | undefined;
}

/** How a turn ends. */
export type TurnEnd =
  | {
      readonly end: "complete";
      /** Id of the final `assistant_message`, or of the notice that is in its place. */
      readonly messageId: string;
      readonly stopReason: Payload<"turn_execution_complete">["stop_reason"];
      /** What people read below the answer, and no model. */
      readonly remark?: string | undefined;
    }
  | ({ readonly end: "failed" } & Pick<
      Payload<"turn_execution_failed">,
      "code" | "category" | "message" | "recoverable" | "retry" | "retry_until"
    >)
  | {
      readonly end: "cancelled";
      readonly reason: Payload<"turn_execution_cancelled">["reason"];
      readonly mode: string;
      /** Id of the partial `assistant_message` that `interrupted` produced, if it did. */
      readonly partialMessageId?: string | undefined;
    };

/**
 * What happens to an agent, told to the machines in the order in which it happens:
 *
 *     restarted?                          once, before the first turn after a start
 *     turn_started
 *       answer_stored / tool_finished …   a resumed turn: what earlier attempts have already written
 *       messages_joined                   each time later messages enter this turn
 *       iteration_started                 each model call's round, counted from 1
 *         stream_started                  each attempt at the call, each with a new message id
 *           chunk …                       the last one is `end`,
 *           stream_failed | interrupted   or one of these in its place
 *         human_asked, human_answered     at any time
 *         tool_started, tool_finished     for each call of the answer; a call that never starts only finishes
 *       limit_reached                     when no further iteration is allowed
 *     turn_ended                          exactly once; its outputs belong into the turn's commit, last of all
 *
 * Inputs that make no sense where they come (a chunk without a stream, a second end) are ignored.
 */
export type MachineInput =
  /** `lastState`: `to` of the last stored `agent_state_changed` of the session. */
  | { readonly kind: "restarted"; readonly lastState: AgentState }
  | {
      readonly kind: "turn_started";
      readonly turnId: string;
      readonly messageIds: readonly string[];
      readonly attempt: number;
      readonly queuedMs: number;
    }
  | { readonly kind: "messages_joined"; readonly messageIds: readonly string[] }
  | {
      readonly kind: "iteration_started";
      readonly iteration: number;
      readonly maxIterations: number;
      readonly model: string;
    }
  | {
      readonly kind: "stream_started";
      readonly messageId: string;
      readonly model: string;
      readonly iteration: number;
      readonly price?: TokenPrice | undefined;
    }
  | { readonly kind: "chunk"; readonly chunk: AnswerChunk }
  /** With `willRetry` the abandoned answer leaves no message behind; without, what there is of it is kept as partial. */
  | {
      readonly kind: "stream_failed";
      readonly code: string;
      readonly willRetry?: boolean | undefined;
      readonly spent?: CutUse | undefined;
    }
  /** The turn is being cancelled, in or outside of a stream. */
  | { readonly kind: "interrupted"; readonly spent?: CutUse | undefined }
  | { readonly kind: "tool_started"; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly kind: "tool_finished";
      readonly toolCallId: string;
      readonly toolName: string;
      /** As the model reads it. */
      readonly output: string;
      readonly isError: boolean;
      readonly durationMs: number;
    }
  | { readonly kind: "human_asked"; readonly requestId: string }
  | { readonly kind: "human_answered"; readonly requestId: string }
  /** An answer of an earlier attempt that is in the log and is not asked for again. */
  | { readonly kind: "answer_stored"; readonly message: Payload<"assistant_message"> }
  | { readonly kind: "limit_reached" }
  | {
      readonly kind: "turn_ended";
      readonly outcome: TurnEnd;
      readonly durationMs: number;
      /** Answers that were given up, which `spent` has told before. */
      readonly discarded?: readonly ModelUse[] | undefined;
    };

/** An event without its envelope. */
export interface OutputOf<T extends EventType> {
  readonly type: T;
  readonly payload: Payload<T>;
  /** On deltas: counts all deltas of one streamed message from 0. */
  readonly delta_index?: number;
}

/** What machines produce; distributive, so that switching on `type` narrows `payload`. */
export type MachineOutput = { [T in EventType]: OutputOf<T> }[EventType];

/**
 * A pure Mealy machine: `step` has no side effects and leaves `state` and `input` untouched; the same inputs give the
 * same outputs. What needs a clock or an id is part of the input.
 */
export interface Machine<S> {
  /** For the log. */
  readonly name: string;
  readonly initial: S;
  step(state: S, input: MachineInput): Step<S>;
}

export type Step<S> = readonly [state: S, outputs: readonly MachineOutput[]];
