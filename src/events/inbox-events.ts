import type { EventType } from "./catalogue.js";

/** Events of chats after which something else may wait for a person. The page reads this too. */
export const inboxEvents: readonly EventType[] = [
  "human_input_asked",
  "human_input_answered",
  "schedule_run_changed",
  "outbound_delivery_changed",
  "turn_execution_failed",
  "error_occurred",
  "session_state_changed",
];
