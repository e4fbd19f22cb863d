import type { InboundMessage } from "../../../bus/messages.js";
import type { FailedTurn } from "../../../events/retries/trail.js";

/** The message as its sender wrote it. */
export function asAsked(message: InboundMessage, retried: FailedTurn | undefined): InboundMessage {
  if (retried === undefined) return message;
  const { id, content, attachments, quoted } = retried.message;
  return { ...message, id, content, attachments, quoted };
}
