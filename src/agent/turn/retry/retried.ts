import type { InboundMessage } from "../../../bus/messages.js";
import type { FailedTurn } from "../../../events/retries/trail.js";
import type { LiveTurn } from "../live-turn.js";

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
