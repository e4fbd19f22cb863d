import { outboundQueued } from "../bus/message-bus.js";
import type { Work } from "../engine/engine.js";
import type { ProviderError } from "../errors.js";
import { noUsage } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import type { TurnEnd } from "../events/machines/input.js";
import { newId } from "../util/ids.js";
import type { Mailbox } from "./mailbox.js";
import { compressed, failureText, isRecoverable, sentenceFor, stopped } from "./sentences.js";
import type { TurnLog } from "./turn-log.js";
import type { TurnScope } from "./turn-scope.js";

/** How the loop came to its end; what has not been written yet stands in the turn's last commit. */
export type LoopEnd =
  | {
      readonly kind: "answered";
      readonly messageId: string;
      readonly text: string;
      readonly stopReason: string;
      readonly unwritten: readonly EventDraft[];
    }
  | {
      readonly kind: "notice";
      readonly text: string;
      readonly stopReason: "max_iterations" | "empty" | "refusal";
      readonly unwritten: readonly EventDraft[];
    }
  | {
      readonly kind: "interrupted";
      readonly partialMessageId: string | undefined;
      readonly unwritten: readonly EventDraft[];
    }
  | { readonly kind: "failed"; readonly error: ProviderError; readonly unwritten: readonly EventDraft[] };

export interface Ending {
  readonly scope: TurnScope;
  readonly log: TurnLog;
  readonly mailbox: Mailbox;
  readonly mode: "stop" | "cancel";
  readonly startedAt: number;
}

/** The turn's one commit: its last events, its replies and the acknowledgement of all its messages. */
export async function endTurn(end: LoopEnd, ending: Ending): Promise<void> {
  // From here to the commit nothing is waited for, so that it acknowledges exactly the messages it names.
  await ending.mailbox.settled();
  const { scope, log, mailbox, startedAt } = ending;
  const { ports, delivery, machines } = scope;
  const message = delivery.work.body;
  const drafts: EventDraft[] = [...end.unwritten];
  const { outcome, text } = describeEnd(end, ending, drafts);
  const replies = [
    ...noticesOf(scope).flatMap((notice, n) => ports.replies(message, `${log.turnId}-n${n}`, notice, log.turnId)),
    ...(text === undefined ? [] : ports.replies(message, `${log.turnId}`, text, log.turnId)),
  ];
  // A stop was claimed while the machines were busy with something else: it ends with this turn too.
  const joined = mailbox.messageIds.filter((id) => !machines.turn().messageIds.includes(id));
  machines.feed({ kind: "messages_joined", messageIds: joined });
  const { stored } = machines.feed({ kind: "turn_ended", outcome, durationMs: Math.max(0, Date.now() - startedAt) });
  drafts.push(...queuedReplies(replies), ...log.stored(stored));
  await log.commit(drafts, replies);
}

/** What people in the chat must hear beside the answer, read from the turn's own events, so that no crash loses it. */
function noticesOf({ session }: TurnScope): readonly string[] {
  return session.openTurn.some(({ type }) => type === "context_compressed") ? [compressed] : [];
}

function describeEnd(
  end: LoopEnd,
  { log, mode }: Ending,
  drafts: EventDraft[],
): { readonly outcome: TurnEnd; readonly text: string | undefined } {
  switch (end.kind) {
    case "answered":
      return {
        outcome: { end: "complete", messageId: end.messageId, stopReason: asStopReason(end.stopReason) },
        text: end.text,
      };
    case "notice": {
      const notice = noticeMessage(log, end.text);
      drafts.push(notice.draft);
      return { outcome: { end: "complete", messageId: notice.id, stopReason: end.stopReason }, text: end.text };
    }
    case "interrupted":
      return {
        outcome: { end: "cancelled", reason: "user_interrupt", mode, partialMessageId: end.partialMessageId },
        text: mode === "stop" ? stopped : undefined,
      };
    case "failed": {
      const { error } = end;
      return {
        outcome: {
          end: "failed",
          code: error.code,
          category: "driver",
          message: `${sentenceFor(error.code)} [${error.message}]`,
          recoverable: isRecoverable(error),
        },
        text: failureText(error.code, log.turnId),
      };
    }
  }
}

function asStopReason(reason: string): "end_turn" | "max_tokens" | "refusal" {
  return reason === "max_tokens" || reason === "refusal" ? reason : "end_turn";
}

/** A sentence of the gateway's own: shown like an answer, and never part of what the model sees. */
export function noticeMessage(log: TurnLog, text: string): { readonly id: string; readonly draft: EventDraft } {
  const id = newId("msg");
  const payload = {
    message_id: id,
    content: [{ type: "text" as const, text }],
    model: "none",
    iteration: 0,
    stop_reason: "end_turn" as const,
    usage: noUsage,
    final: true,
    partial: false,
  };
  return { id, draft: log.draft("assistant_message", payload, "gateway") };
}

export function queuedReplies(replies: readonly Work<"outbound">[]): EventDraft[] {
  return replies.map((work) => outboundQueued(work.body, undefined));
}
