import type { TurnBudget } from "../../budgets/turn-budget.js";
import type { Work } from "../../engine/engine.js";
import type { ErrorCode } from "../../errors.js";
import type { EventDraft } from "../../events/event.js";
import { isClosed } from "../../events/folds/session-state.js";
import type { TurnEnd } from "../../events/machines/input.js";
import { newId } from "../../util/ids.js";
import { closeInterrupted } from "../calls/call-ends.js";
import { failureText, sentenceFor, stopped, toReader } from "../model/sentences.js";
import { closeQuestions } from "../questions/human-input.js";
import { toActive, toRest } from "../session-state.js";
import { offerOf } from "./ending/retry.js";
import { textForChat } from "./ending/silence.js";
import { asAnswered, isReadByOwner, queuedReplies } from "./own-words.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import type { BuryScope } from "./scope.js";
import { leaveStanding, noticeBeside } from "./standing-words.js";
import { TurnLog } from "./turn-log.js";

export function openTurnLog(
  { ports, options, delivery, session }: BuryScope,
  turnId: string,
  earlier: EarlierAttempts | undefined,
  budget?: TurnBudget,
): TurnLog {
  const message = delivery.work.body;
  return new TurnLog({
    delivery,
    identity: {
      turnId,
      agentId: session.agentId,
      correlationId: message.id,
      cause: earlier?.lastEventId ?? session.messages.queued.get(message.id),
    },
    earlier: earlier === undefined ? undefined : session.openTurn,
    pieces: ports.sessions.pieces,
    persistDetail: options.persistDetail,
    persistThoughts: options.persistThoughts,
    keepThoughts: (messageId, content) => session.history?.keepThoughts(messageId, content),
    counts: (drafts) => budget?.counts(drafts) ?? [],
  });
}

/** The begin of an attempt at a turn; brings the machines to where the attempts before have left it. */
export function beginAttempt(
  { delivery, session, machines }: BuryScope,
  log: TurnLog,
  messageIds: readonly string[],
  earlier: EarlierAttempts | undefined,
): { readonly begin: EventDraft[]; readonly states: readonly EventDraft[] } {
  const { receivedAt, retry } = delivery.work.body;
  const queuedMs = Math.max(0, Date.now() - receivedAt);
  const { turnId, attempt } = log;
  const begin: EventDraft[] = [];
  // An attempt that fails for a reason of its own has told its begin already.
  if (earlier?.attempt !== attempt)
    begin.push(
      log.draft("turn_execution_start", {
        message_ids: [...messageIds],
        queued_ms: queuedMs,
        attempt,
        ...(retry === undefined ? {} : { retry_of: retry.of }),
      }),
    );
  begin.push(...toActive(log, session.document.state));
  if (machines.turn().turnId === "")
    begin.push(...log.stored(machines.feed({ kind: "restarted", lastState: session.agentState }).stored));
  const started = machines.feed({ kind: "turn_started", turnId, messageIds: [...messageIds], attempt, queuedMs });
  const caughtUp = (earlier?.inputs ?? []).flatMap((input) => machines.feed(input).stored);
  return { begin, states: log.stored([...started.stored, ...caughtUp]) };
}

/** Ends a message that has used up its attempts or met a fault, so that it never blocks its chat. */
export async function buryTurn(scope: BuryScope, code: ErrorCode): Promise<void> {
  const turnId = turnIdOf(scope);
  const sentence = sentenceFor(code);
  const shown = toReader(sentence, true);
  // A session that cannot be read knows of no turn that could be tried again.
  const offer = scope.session.retries === undefined ? {} : offerOf(scope.delivery.work.body, hasEntered(scope));
  const outcome = { end: "failed", code, category: "runtime", message: shown, recoverable: false, ...offer } as const;
  const text = failureText(sentence, turnId, isReadByOwner(scope.ports.chat, scope.delivery.work.body));
  const { log, drafts, replies } = endAtOnce(scope, turnId, outcome, text, "error");
  await log.bury(shown, drafts, replies);
  await leaveStanding(scope, replies, turnId);
}

/** Ends a message that waited, or whose turn was between two attempts, when its session was aborted. */
export async function cancelTurn(scope: BuryScope): Promise<void> {
  const outcome = { end: "cancelled", reason: "abort", mode: "abort" } as const;
  const turnId = turnIdOf(scope);
  const { log, drafts, replies } = endAtOnce(scope, turnId, outcome, stopped, "aborted");
  await log.commit(drafts, replies);
  await leaveStanding(scope, replies, turnId);
}

/** What the turn was asked is in the context by now, from this attempt, one before or the turn that it tries again. */
function hasEntered({ session, delivery }: Pick<BuryScope, "session" | "delivery">): boolean {
  const { retry } = delivery.work.body;
  return (
    session.retries?.hasEntered === true ||
    (retry !== undefined && session.retries?.turnFor(retry.of)?.hasEntered === true)
  );
}

function turnIdOf({ session, delivery }: BuryScope): string {
  return readEarlierAttempts(session.openTurn, delivery.work.body.id)?.turnId ?? newId("turn");
}

/** A turn's begin and end in one. */
function endAtOnce(
  scope: BuryScope,
  turnId: string,
  outcome: TurnEnd,
  text: string,
  rests: "error" | "aborted",
): { readonly log: TurnLog; readonly drafts: readonly EventDraft[]; readonly replies: readonly Work<"outbound">[] } {
  const { ports, delivery, session, machines } = scope;
  const message = delivery.work.body;
  const earlier = readEarlierAttempts(session.openTurn, message.id);
  const log = openTurnLog(scope, turnId, earlier);
  const { begin, states } = beginAttempt(scope, log, [message.id], earlier);
  const open = (earlier?.questions ?? []).filter(({ answered }) => answered === undefined);
  const closed = [...closeQuestions(open, log), ...closeInterrupted(earlier?.pending ?? [], log, machines)];
  const said = outcome.end === "failed" ? textForChat(message, "failed", text) : text;
  const beside = said === undefined ? undefined : noticeBeside(scope, log, said);
  const retried = message.retry === undefined ? undefined : session.retries?.turnFor(message.retry.of);
  const asked = asAnswered(message, retried);
  const replies = beside === undefined ? [] : ports.chat.replies(asked, beside.replyId, beside.text, turnId);
  const { stored } = machines.feed({ kind: "turn_ended", outcome, durationMs: 0 });
  // The begin above has made it active, unless the session is over.
  const before = isClosed(session.document.state) ? session.document.state : "active";
  const drafts = [
    ...begin,
    ...states,
    ...(beside?.unrecorded ?? []),
    ...closed,
    ...queuedReplies(log, replies),
    ...toRest(log, before, rests),
    ...log.stored(stored),
  ];
  return { log, drafts, replies };
}
