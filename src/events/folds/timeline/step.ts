import type { StopReason, Usage } from "../../content.js";

/** What every step of a turn has. */
interface StepBase {
  readonly id: string;
  /** The event that begins it, with everything that is left out here. */
  readonly seq: number;
  /** Ms after the turn's first message came in. */
  readonly atMs: number;
  /** Ms after the turn's first message came in; absent while it goes on. The same as `atMs` for a moment. */
  endMs?: number | undefined;
}

/** A text, and whether it is only the beginning of one. */
export interface Excerpt {
  readonly text: string;
  readonly isCut: boolean;
}

/** A message that waited for its turn, or came in while the turn ran. */
export interface WaitStep extends StepBase {
  readonly kind: "wait";
  readonly said: Excerpt;
  readonly channel: string;
  readonly sender: string;
}

export interface ModelStep extends StepBase {
  readonly kind: "model";
  readonly iteration: number;
  model: string;
  /** When the first word or tool call came; absent where the log does not say. */
  firstMs?: number | undefined;
  /** Answers that broke off and were asked for again. */
  restarts: number;
  /** False where the log lacks the begin, and what came before it is taken for it. */
  readonly isTimed: boolean;
  used?: CallUse;
  answer?: ModelAnswer;
}

export interface CallUse {
  readonly usage: Usage;
  /** Absent where nobody knows the price. */
  readonly costUsd?: number | undefined;
  /** Estimated for an answer that was cut. */
  readonly guessedTokens?: number | undefined;
}

export interface ModelAnswer {
  readonly said: Excerpt;
  /** The tools that it asked for. */
  readonly calls: readonly string[];
  readonly stopReason: StopReason;
  readonly isPartial: boolean;
  /** The event with the whole answer. */
  readonly seq: number;
}

export interface ToolStep extends StepBase {
  readonly kind: "tool";
  readonly name: string;
  readonly origin: "builtin" | "mcp";
  readonly input: Excerpt;
  output?: Excerpt;
  /** The event with the whole result. */
  resultSeq?: number;
  summary?: string;
  isError?: boolean;
  errorCode?: string;
}

export interface AgentStep extends StepBase {
  readonly kind: "agent";
  readonly label: string;
  /** Its own conversation, with timelines of its own. */
  readonly sessionKey: string;
  state: "pending" | "running" | "completed" | "failed";
  summary?: string;
  error?: string;
  tokens?: number;
  costUsd?: number;
}

export interface QuestionStep extends StepBase {
  readonly kind: "question";
  readonly question: string;
  readonly about: "clarification" | "decision" | "env_var" | "permission";
  readonly toolName?: string;
  outcome?: "answered" | "timeout" | "cancelled";
  answer?: string;
  responder?: string;
}

export interface DeliveryChange {
  readonly status: string;
  readonly atMs: number;
  readonly error?: string;
}

export interface DeliveryStep extends StepBase {
  readonly kind: "delivery";
  readonly channel: string;
  readonly chatId: string;
  readonly said?: Excerpt;
  status: string;
  attempts: number;
  maybeTwice?: boolean;
  /** The platform's own id of the message. */
  receipt?: string;
  readonly changes: DeliveryChange[];
}

/** Older messages were replaced by a summary. */
export interface CompactionStep extends StepBase {
  readonly kind: "compaction";
  readonly strategy: string;
  readonly summary: Excerpt;
  readonly tokensBefore: number;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly model?: string;
  readonly tokens?: number;
  readonly costUsd?: number;
}

/** A moment of no length. `code` says which; `detail` is in the words of the log. */
export interface NoteStep extends StepBase {
  readonly kind: "note";
  readonly code: "restart" | "skills" | "plan" | "loop" | "file" | "budget" | "discarded";
  readonly detail: string;
}

export interface ErrorStep extends StepBase {
  readonly kind: "error";
  readonly code: string;
  readonly detail: string;
}

export type Step =
  | WaitStep
  | ModelStep
  | ToolStep
  | AgentStep
  | QuestionStep
  | DeliveryStep
  | CompactionStep
  | NoteStep
  | ErrorStep;
