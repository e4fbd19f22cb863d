import type { SessionStatus } from "../api/sessions/sessions-api.js";

/** A session's status as the wire carries it: snake_case, as the events beside it. */
export function toStatusWire(status: SessionStatus) {
  const { recovery } = status;
  return {
    session_key: status.sessionKey,
    state: status.state,
    agent_state: status.agentState,
    is_running: status.isRunning,
    first_sequence: status.firstSequence,
    last_sequence: status.lastSequence,
    current_message_id: status.currentMessageId,
    recovery: recovery && {
      can_recover: recovery.canRecover,
      stream_exists: recovery.streamExists,
      recovery_source: recovery.recoverySource,
      missed_events_count: recovery.missedEventsCount,
    },
  };
}
