import type { InboundMessage } from "../../../bus/messages.js";
import type { FailedTurn } from "../../../events/retries/trail.js";

/** The message as its answer is sent: it may be shown below what was asked. */
export function asAnswered(message: InboundMessage, retried: FailedTurn | undefined): InboundMessage {
  return retried === undefined ? message : { ...message, content: retried.message.content };
}

/** The message as its sender wrote it. */
export function asAsked(message: InboundMessage, retried: FailedTurn | undefined): InboundMessage {
  if (retried === undefined) return message;
  const { id, content, attachments, quoted } = retried.message;
  return { ...message, id, content, attachments, quoted };
}
