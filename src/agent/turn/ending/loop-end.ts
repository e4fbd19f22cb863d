import type { Exceeded } from "../../../budgets/limits.js";
import type { ProviderError } from "../../../errors.js";
import { textOf } from "../../../events/content.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { Answer } from "../../model/call.js";
import {
  blindAnswer,
  cutAnswer,
  emptyAnswer,
  endlessThinking,
  limitReached,
  refusedAnswer,
  tooLongAnswer,
} from "../../model/sentences.js";
import type { LiveTurn } from "../live-turn.js";
import type { Spent } from "../own-words.js";

/** How the loop came to its end; what has not been written yet is in the turn's last commit. */
export type LoopEnd =
  | {
      readonly kind: "answered";
      readonly messageId: string;
      readonly text: string;
      /** Why it is not whole. */
      readonly remark?: string | undefined;
      readonly stopReason: string;
      readonly unwritten: readonly EventDraft[];
    }
  | {
      readonly kind: "notice";
      readonly text: string;
      readonly stopReason: "max_iterations" | "empty" | "refusal";
      /** The answer without a word that the notice stands for. */
      readonly spent?: Spent | undefined;
      readonly unwritten: readonly EventDraft[];
    }
  | { readonly kind: "budget"; readonly exceeded: Exceeded; readonly unwritten: readonly EventDraft[] }
  | {
      readonly kind: "interrupted";
      readonly partialMessageId: string | undefined;
      readonly unwritten: readonly EventDraft[];
    }
  | { readonly kind: "failed"; readonly error: ProviderError; readonly unwritten: readonly EventDraft[] };

/** An answer that the model has given. */
export type Answered = Extract<Answer, { readonly status: "answered" }>;

/** The model has no more calls to make: its answer is the turn's, or a notice instead of an empty one. `events`: the turn's own. */
export function finalEnd(answer: Answered, events: readonly StoredEvent[]): LoopEnd {
  const { message, model, stopReason, unwritten, usage, costUsd } = answer;
  const text = textOf(message?.content ?? []);
  if (message === undefined || text.trim() === "") {
    const spent = message === undefined ? { model: model.label, usage, costUsd } : undefined;
    return stopReason === "refusal"
      ? { kind: "notice", text: refusedAnswer, stopReason: "refusal", spent, unwritten }
      : { kind: "notice", text: answer.isCut ? endlessThinking : emptyAnswer, stopReason: "empty", spent, unwritten };
  }
  const why = answer.isCut ? tooLongAnswer(text.length) : cutAnswer(model.maxTokens);
  const remarks = [
    ...(stopReason === "max_tokens" ? [why] : []),
    ...(!model.supportsImages && events.some(holdsPicture) ? [blindAnswer(model.label)] : []),
  ];
  const remark = remarks.length === 0 ? undefined : remarks.join("\n\n");
  return { kind: "answered", messageId: message.message_id, text, remark, stopReason, unwritten };
}

function holdsPicture(event: StoredEvent): boolean {
  return event.type === "user_message" && event.payload.content.some(({ type }) => type === "image");
}

/** The model has called tools as often as it may. */
export function limitEnd({ scope: { machines, options }, log }: LiveTurn): LoopEnd {
  return {
    kind: "notice",
    text: limitReached(options.maxIterations),
    stopReason: "max_iterations",
    unwritten: log.stored(machines.feed({ kind: "limit_reached" }).stored),
  };
}

/** The turn was stopped while no answer was being written. */
export function interruptedEnd({ scope: { machines }, log }: LiveTurn): LoopEnd {
  const outputs = machines.feed({ kind: "interrupted" });
  return { kind: "interrupted", partialMessageId: undefined, unwritten: log.stored(outputs.stored) };
}
