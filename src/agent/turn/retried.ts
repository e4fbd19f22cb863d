import { inboundWork, queuedEvent } from "../../bus/message-bus.js";
import type { InboundMessage } from "../../bus/messages.js";
import type { Work } from "../../engine/engine.js";
import type { EventDraft } from "../../events/event.js";
import type { FailedTurn } from "../../events/retries/trail.js";
import type { LiveTurn } from "./live-turn.js";

/** A try as a piece of work, with the event that tells about it, for who commits both. */
export function retryWork(message: InboundMessage): { readonly work: Work<"inbound">; readonly event: EventDraft } {
  return { work: inboundWork(message), event: queuedEvent(message, 0) };
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
