import type { StoredEvent } from "../event.js";

/**
 * The state of a conversation: `created → active ⇄ idle → completed`, `active → aborted`; a failed turn leaves `error`,
 * which the next message leaves. A deleted session has no state: it is not there.
 */
export const sessionStates = ["created", "active", "idle", "error", "completed", "aborted"] as const;

/** True when the conversation is over: only `/new`, or a message in its chat, goes on, in a fresh context. */
export function isClosed(state: string): boolean {
  return state === "completed" || state === "aborted";
}

/**
 * The state after an event. Transitions are told by `session_state_changed`; logs from before it was written for each
 * of them are read by their turns.
 */
export function stateAfter(state: string, event: StoredEvent): string {
  switch (event.type) {
    case "session_state_changed":
      return event.payload.to;
    case "user_message":
      return "active";
    case "turn_execution_complete":
    case "turn_execution_cancelled":
      return state === "active" ? "idle" : state;
    case "turn_execution_failed":
      return isClosed(state) ? state : "error";
    default:
      return state;
  }
}
