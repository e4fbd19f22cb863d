import { inboundWork, queuedEvent } from "../../bus/message-bus.js";
import type { InboundMessage, Retry } from "../../bus/messages.js";
import type { Work } from "../../engine/engine.js";
import type { EventDraft } from "../../events/event.js";
import type { FailedTurn, RetryTrail } from "../../sessions/history/retry-trail.js";
import type { LiveTurn } from "./live-turn.js";

/**
 * The message that has a failed turn tried again, in the name of who had asked. Its words stay where they are: in the
 * log, and mostly in the context. Without an id each try of one turn has the same one, so that it is accepted once.
 */
export function retryMessage(
  { turnId, message }: FailedTurn,
  {
    by,
    id = `msg_again_${turnId}`,
    now,
  }: { readonly by: Retry["by"]; readonly id?: string | undefined; readonly now: number },
): InboundMessage {
  return {
    ...message,
    id,
    content: "",
    attachments: [],
    quoted: undefined,
    retry: { of: turnId, by },
    receivedAt: now,
  };
}

/** The same as a piece of work, with the event that tells about it, for who commits both. */
export function retryWork(message: InboundMessage): { readonly work: Work<"inbound">; readonly event: EventDraft } {
  return { work: inboundWork(message), event: queuedEvent(message, 0) };
}

/** Why that turn cannot be tried again, as a code and one sentence; undefined where it can. */
export function whyNotAgain(
  { failed, last, asked }: Pick<RetryTrail, "failed" | "last" | "asked">,
  turnId: string,
): { readonly code: "already_retried" | "not_failed" | "not_last"; readonly sentence: string } | undefined {
  if (asked?.of === turnId) return { code: "already_retried", sentence: `The turn ${turnId} was already tried again.` };
  if (failed?.turnId === turnId) return undefined;
  if (last?.turnId === turnId && !last.hasFailed)
    return { code: "not_failed", sentence: `The turn ${turnId} did not fail. Only a failed turn can be tried again.` };
  return {
    code: "not_last",
    sentence: `The turn ${turnId} cannot be tried again. Only the last turn of a session can, and only when it failed on a person's message.`,
  };
}

/** The failed turn that this one tries again. */
export function retriedBy({ scope }: Pick<LiveTurn, "scope">): FailedTurn | undefined {
  const { retry } = scope.delivery.work.body;
  return retry === undefined ? undefined : scope.session.retries.turnFor(retry.of);
}

/** Something has come in between since it was asked for: there is nothing left to try again. */
export function isOutdated(turn: Pick<LiveTurn, "scope">): boolean {
  return turn.scope.delivery.work.body.retry !== undefined && retriedBy(turn) === undefined;
}

/** The message as its sender wrote it. */
export function asAsked(message: InboundMessage, retried: FailedTurn | undefined): InboundMessage {
  if (retried === undefined) return message;
  const { id, content, attachments, quoted } = retried.message;
  return { ...message, id, content, attachments, quoted };
}
