import { inboundWork, queuedEvent } from "../../../bus/message-bus.js";
import type { InboundMessage } from "../../../bus/messages.js";
import type { Work } from "../../../engine/engine.js";
import type { EventDraft } from "../../../events/event.js";

/** A try as a piece of work, with the event that tells about it, for who commits both. */
export function retryWork(message: InboundMessage): { readonly work: Work<"inbound">; readonly event: EventDraft } {
  return { work: inboundWork(message), event: queuedEvent(message, 0) };
}
