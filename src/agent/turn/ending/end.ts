import type { Exceeded } from "../../../budgets/limits.js";
import type { InboundMessage } from "../../../bus/messages.js";
import { withRemark } from "../../../events/content.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { TurnEnd } from "../../../events/machines/input.js";
import {
  compressed,
  failureDetail,
  failureText,
  isRecoverable,
  modelSentence,
  stopped,
  triedAgain,
} from "../../model/sentences.js";
import { fallbackTitle } from "../../model/titles.js";
import { planText } from "../../plan/text.js";
import { toRest } from "../../session-state.js";
import { budgetSentence } from "../budget.js";
import type { LiveTurn } from "../live-turn.js";
import { asAnswered, isReadByOwner, noticeMessage, queuedReplies } from "../own-words.js";
import { asAsked } from "../retry/as-asked.js";
import { retriedBy } from "../retry/retried.js";
import type { TurnScope } from "../scope.js";
import { leaveStanding, noticeBeside } from "../standing-words.js";
import type { TurnLog } from "../turn-log.js";
import type { StopMode } from "./interruption.js";
import type { LoopEnd } from "./loop-end.js";
import { offerAfter, offerOf } from "./retry.js";
import { textForChat } from "./silence.js";

/** The turn's one commit: its last events, its replies and the acknowledgement of all its messages. */
export async function endTurn(end: LoopEnd, turn: LiveTurn, mode: StopMode): Promise<void> {
  const { scope, log, mailbox, human, startedAt } = turn;
  // From here to the commit nothing is waited for, so that it acknowledges exactly the messages it names.
  await mailbox.settled();
  const { ports, delivery, machines, session } = scope;
  const message = delivery.work.body;
  const drafts: EventDraft[] = [...end.unwritten, ...human.closeEarlier()];
  const { outcome, text, rests } = describeEnd(end, turn, mode, drafts);
  if (end.kind === "answered" && scope.options.titles && session.document.title === undefined)
    drafts.push(...firstTitle(log, asAsked(message, retriedBy(turn)), scope.opening?.text));
  const said = textForChat(message, end.kind, text);
  // The whole answer takes the place of its first words; whatever else ends the turn leaves them standing.
  const beside = said === undefined || end.kind === "answered" ? undefined : noticeBeside(scope, log, said, drafts);
  drafts.unshift(...(beside?.unrecorded ?? []));
  const notices = message.silence?.word === undefined ? noticesOf(scope) : [];
  const asked = asAnswered(message, retriedBy(turn));
  const replies = [
    ...notices.flatMap((notice, n) => ports.chat.replies(asked, `${log.turnId}-n${n}`, notice, log.turnId)),
    ...(said === undefined
      ? []
      : ports.chat.replies(asked, beside?.replyId ?? log.turnId, beside?.text ?? said, log.turnId)),
  ];
  // A stop was claimed while the machines were busy with something else: it ends with this turn too.
  const joined = mailbox.messageIds.filter((id) => !machines.turn().messageIds.includes(id));
  machines.feed({ kind: "messages_joined", messageIds: joined });
  const durationMs = Math.max(0, Date.now() - startedAt);
  const { stored } = machines.feed({ kind: "turn_ended", outcome, durationMs, discarded: log.discarded });
  const states = toRest(log, session.document.state, rests);
  drafts.push(...queuedReplies(log, replies), ...states, ...log.stored(stored));
  await log.commit(drafts, replies);
  await leaveStanding(scope, replies, log.turnId);
}

/** What people in the chat must hear besides the answer, read from the turn's own events, so that no crash loses it. */
function noticesOf({ session }: TurnScope): readonly string[] {
  const notices = session.openTurn.some(({ type }) => type === "context_compressed") ? [compressed] : [];
  const plan = session.plan.current?.plan;
  const isProposed = plan?.status === "pending" && plan.steps.length > 0 && session.openTurn.some(changesPlan);
  return isProposed ? [...notices, planText(plan)] : notices;
}

/** Anyone who is to say go sees the plan as it is. */
function changesPlan(event: StoredEvent): boolean {
  return event.type === "plan_updated" && event.payload.change !== "entered";
}

/** Until a better title is given, a conversation is called after what it began with. */
function firstTitle(log: TurnLog, message: InboundMessage, text = message.content): EventDraft[] {
  const title = fallbackTitle(text) ?? message.attachments[0]?.filename;
  if (title === undefined || message.internal === true || message.resultOf !== undefined) return [];
  return [log.draft("session_title_generated", { title, generated_by: "fallback" })];
}

function describeEnd(
  end: LoopEnd,
  { scope, log }: LiveTurn,
  mode: StopMode,
  drafts: EventDraft[],
): {
  readonly outcome: TurnEnd;
  readonly text: string | undefined;
  readonly rests: "idle" | "error" | "aborted";
} {
  switch (end.kind) {
    case "answered":
      return {
        outcome: {
          end: "complete",
          messageId: end.messageId,
          stopReason: asStopReason(end.stopReason),
          remark: end.remark,
        },
        text: withRemark(end.text, end.remark),
        rests: "idle",
      };
    case "notice": {
      const notice = noticeMessage(log, end.text, end.spent);
      drafts.push(notice.draft);
      const outcome = { end: "complete", messageId: notice.id, stopReason: end.stopReason } as const;
      return { outcome, text: end.text, rests: "idle" };
    }
    case "budget":
      return describeBudget(end.exceeded, scope, log, drafts);
    case "interrupted": {
      const reason = mode === "abort" ? "abort" : "user_interrupt";
      return {
        outcome: { end: "cancelled", reason, mode, partialMessageId: end.partialMessageId },
        text: mode === "cancel" ? undefined : stopped,
        rests: mode === "abort" ? "aborted" : "idle",
      };
    }
    case "failed": {
      const { error } = end;
      const message = scope.delivery.work.body;
      const { hasEntered } = scope.session.retries;
      const { offer, counts } = offerAfter(error, { message, turnId: log.turnId, hasEntered, now: Date.now() });
      log.owe(counts);
      const sentence = offer.retry === "waits" ? triedAgain(modelSentence(error)) : modelSentence(error);
      return {
        outcome: {
          end: "failed",
          code: error.code,
          category: "driver",
          message: failureDetail(sentence, error.message),
          recoverable: isRecoverable(error),
          ...offer,
        },
        text: failureText(sentence, log.turnId, isReadByOwner(scope.ports.chat, message)),
        rests: "error",
      };
    }
  }
}

/** A chat hears about each budget once in its period; that the message was not answered is told by the turn's end. */
function describeBudget(
  exceeded: Exceeded,
  { ports, session, delivery }: TurnScope,
  log: TurnLog,
  drafts: EventDraft[],
): ReturnType<typeof describeEnd> {
  const offer = offerOf(delivery.work.body, session.retries.hasEntered);
  const message = budgetSentence(exceeded, ports.budgets.calendar.timeZone);
  const isNew = !session.spending.wasReported(exceeded);
  const { scope, limit, used, unit, subject, period } = exceeded;
  if (isNew) drafts.push(log.draft("budget_exceeded", { scope, limit, used, unit, subject, period }));
  return {
    outcome: { end: "failed", code: "BUDGET_EXCEEDED", category: "runtime", message, recoverable: false, ...offer },
    text: isNew ? message : undefined,
    rests: "error",
  };
}

function asStopReason(reason: string): "end_turn" | "max_tokens" | "refusal" {
  return reason === "max_tokens" || reason === "refusal" ? reason : "end_turn";
}
