import type { ErrorCode } from "../errors.js";
import type { EventDraft } from "../events/event.js";
import { newId } from "../util/ids.js";
import { type EarlierAttempts, readEarlierAttempts } from "./resume.js";
import { failureText, sentenceFor } from "./sentences.js";
import { closeInterrupted } from "./tool-calls.js";
import { queuedReplies } from "./turn-end.js";
import { TurnLog } from "./turn-log.js";
import type { BuryScope } from "./turn-scope.js";

export function openTurnLog(
  { ports, options, delivery, session }: BuryScope,
  turnId: string,
  earlier: EarlierAttempts | undefined,
): TurnLog {
  const message = delivery.work.body;
  return new TurnLog({
    delivery,
    publish: (event) => void ports.engine.publish(message.sessionKey, event),
    identity: {
      turnId,
      agentId: session.agentId,
      correlationId: message.id,
      cause: earlier?.lastEventId ?? session.queuedEvents.get(message.id),
    },
    persistDetail: options.persistDetail,
    persistThoughts: options.persistThoughts,
  });
}

/** The begin of an attempt at a turn; brings the machines to where the attempts before have left it. */
export function beginAttempt(
  { delivery, session, machines }: BuryScope,
  log: TurnLog,
  messageIds: readonly string[],
  earlier: EarlierAttempts | undefined,
): { readonly begin: EventDraft[]; readonly states: readonly EventDraft[] } {
  const queuedMs = Math.max(0, Date.now() - delivery.work.body.receivedAt);
  const { turnId, attempt } = log;
  const begin = [
    log.draft("turn_execution_start", { message_ids: [...messageIds], queued_ms: queuedMs, attempt }),
    ...log.stored(machines.feed({ kind: "restarted", lastState: session.agentState }).stored),
  ];
  const started = machines.feed({ kind: "turn_started", turnId, messageIds: [...messageIds], attempt, queuedMs });
  const caughtUp = (earlier?.inputs ?? []).flatMap((input) => machines.feed(input).stored);
  return { begin, states: log.stored([...started.stored, ...caughtUp]) };
}

/** Ends a message that has used up its attempts or met a fault, so that it never blocks its chat. */
export async function buryTurn(scope: BuryScope, code: ErrorCode): Promise<void> {
  const { ports, delivery, session, machines } = scope;
  const message = delivery.work.body;
  const earlier = readEarlierAttempts(session.openTurn, message.id);
  const turnId = earlier?.turnId ?? newId("turn");
  const log = openTurnLog(scope, turnId, earlier);
  const { begin, states } = beginAttempt(scope, log, [message.id], earlier);
  const closed = closeInterrupted(earlier?.pending ?? [], log, machines);
  const replies = ports.replies(message, turnId, failureText(code, turnId), turnId);
  const { stored } = machines.feed({
    kind: "turn_ended",
    outcome: { end: "failed", code, category: "runtime", message: sentenceFor(code), recoverable: false },
    durationMs: 0,
  });
  const drafts = [...begin, ...states, ...closed, ...queuedReplies(replies), ...log.stored(stored)];
  await log.bury(sentenceFor(code), drafts, replies);
}
