import type { StoredEvent } from "../event.js";

/** The ids of the messages that this event gives their place in the conversation, unless they have one by then. */
export function takenBy(event: StoredEvent): readonly string[] {
  switch (event.type) {
    case "user_message":
      return [event.payload.message_id];
    case "turn_execution_start":
    case "turn_execution_complete":
    case "turn_execution_failed":
    case "turn_execution_cancelled":
      return event.payload.message_ids;
    case "assistant_message":
      return event.payload.answers === undefined ? [] : [event.payload.answers];
    case "human_input_answered":
      // Typed in the chat, the answer is the message that it follows from.
      return event.correlation_id === undefined ? [] : [event.correlation_id];
    case "error_occurred":
      return event.correlation_id === undefined || event.payload.recoverable ? [] : [event.correlation_id];
    default:
      return [];
  }
}
