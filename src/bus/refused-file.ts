import type { Work } from "../engine/engine.js";
import type { ChannelError } from "../errors.js";
import { draft, type EventDraft } from "../events/event.js";
import { derivedId } from "../util/ids.js";
import { outboundQueued, outboundWork } from "./message-bus.js";
import type { OutboundMessage } from "./messages.js";

/**
 * What people and the model get instead of a file that the platform has refused for good: a message with the name
 * and the reason, and the same as a note in the conversation. Nothing for a message without a file.
 */
export function refusedFile(
  message: OutboundMessage,
  failure: ChannelError,
  causedBy: string,
): { readonly emit: readonly Work<"outbound">[]; readonly events: readonly EventDraft[] } {
  const { attachments } = message;
  if (attachments.length === 0) return { emit: [], events: [] };
  const names = attachments.map(({ filename }) => filename).join(", ");
  const note = draft(
    "session_history_changed",
    {
      kind: "said",
      messages: [{ role: "user", content: `[Note: ${names} did not reach this chat. ${failure.message}]` }],
    },
    { source: "gateway", causation_id: causedBy },
  );
  const events = [{ ...note, event_id: derivedId("evt", message.id, "file note") }];
  if (failure.isChatClosed) return { emit: [], events };
  const { buttons: _buttons, turnId: _turnId, ...same } = message;
  const id = `${message.id}-refused`;
  const sentence = `${names} could not be sent here. ${failure.message} Ask for a smaller file or another format.`;
  const notice: OutboundMessage = {
    ...same,
    id,
    content: [message.content, sentence].filter((part) => part !== "").join("\n\n"),
    attachments: [],
    queuedEventId: derivedId("evt", id),
  };
  return { emit: [outboundWork(notice)], events: [outboundQueued(notice, causedBy), ...events] };
}
