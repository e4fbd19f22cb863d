import type { AgentState, Payload } from "../catalogue.js";
import type { StoredEvent } from "../event.js";
import { stateAfter } from "./session-state.js";

/** What is under way where a log ends. */
export interface OpenEnds {
  readonly turn: { readonly id: string; readonly messageIds: readonly string[] } | undefined;
  /** Calls that have begun. */
  readonly calls: readonly Payload<"tool_execution_start">[];
  readonly questions: readonly Payload<"human_input_asked">[];
  /** Ids of accepted messages that no turn has taken. */
  readonly waiting: ReadonlySet<string>;
  readonly agentState: AgentState;
  /** The session's lifecycle. */
  readonly state: string;
}

export function readOpenEnds(events: readonly StoredEvent[]): OpenEnds {
  const waiting = new Set<string>();
  const calls = new Map<string, Payload<"tool_execution_start">>();
  const questions = new Map<string, Payload<"human_input_asked">>();
  let turn: { readonly id: string; readonly messageIds: Set<string> } | undefined;
  let agentState: AgentState = "idle";
  let state = "created";
  const take = (ids: readonly string[]): void => {
    for (const id of ids) if (waiting.delete(id)) turn?.messageIds.add(id);
  };
  for (const event of events) {
    state = stateAfter(state, event);
    switch (event.type) {
      case "user_message_queued":
        waiting.add(event.payload.message_id);
        break;
      case "turn_execution_start":
        if (event.turn_id !== undefined && turn?.id !== event.turn_id)
          turn = { id: event.turn_id, messageIds: new Set(event.payload.message_ids) };
        take(event.payload.message_ids);
        break;
      case "user_message":
        take([event.payload.message_id]);
        break;
      case "assistant_message":
        if (event.payload.answers !== undefined) take([event.payload.answers]);
        break;
      case "tool_execution_start":
        calls.set(event.payload.tool_execution_id, event.payload);
        break;
      case "tool_execution_complete":
        calls.delete(event.payload.tool_execution_id);
        break;
      case "human_input_asked":
        questions.set(event.payload.request_id, event.payload);
        break;
      case "human_input_answered":
        questions.delete(event.payload.request_id);
        break;
      case "agent_state_changed":
        agentState = event.payload.to;
        break;
      case "turn_execution_complete":
      case "turn_execution_failed":
      case "turn_execution_cancelled":
        take(event.payload.message_ids);
        turn = undefined;
        break;
      case "error_occurred":
        if (event.correlation_id !== undefined && !event.payload.recoverable) waiting.delete(event.correlation_id);
        break;
      default:
        break;
    }
  }
  return {
    turn: turn === undefined ? undefined : { id: turn.id, messageIds: [...turn.messageIds] },
    calls: [...calls.values()],
    questions: [...questions.values()],
    waiting,
    agentState,
    state,
  };
}
