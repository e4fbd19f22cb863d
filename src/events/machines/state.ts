import type { AgentState } from "../catalogue.js";
import type { ContentPart } from "../content.js";
import type { AnswerChunk, Machine, MachineInput, MachineOutput, Step, TurnEnd } from "./input.js";

export interface TrackedState {
  /** Where the agent is when no question to a person is open. */
  readonly base: AgentState;
  /** Open questions. */
  readonly asking: readonly string[];
  /** Calls of the present answer: named, begun or over, over. */
  readonly named: readonly string[];
  readonly begun: readonly string[];
  readonly over: readonly string[];
  /** No model call follows the results of this iteration. */
  readonly isLast: boolean;
  /** Cancelled or at the limit: only the end of the turn changes the state. */
  readonly isEnding: boolean;
}

/**
 * Follows what the agent is doing, by counts: the first text → responding, the first call named → planning_tool, all
 * calls of the answer begun → awaiting_tool_result, the last result → thinking. A question to a person covers the
 * state until it is answered. A change is told only when it differs.
 */
export const stateTracker: Machine<TrackedState> = {
  name: "state",
  initial: { base: "idle", asking: [], named: [], begun: [], over: [], isLast: false, isEnding: false },
  step,
};

/** The state as it is told. */
export function visibleState(state: TrackedState): AgentState {
  return state.asking.length > 0 ? "awaiting_human" : state.base;
}

/** What an input makes of the state, and why; undefined when it makes no difference. */
type Change = readonly [next: TrackedState, cause: string] | undefined;

function step(state: TrackedState, input: MachineInput): Step<TrackedState> {
  switch (input.kind) {
    case "restarted":
      return [stateTracker.initial, stateChange(input.lastState, "idle", "restart")];
    case "turn_started":
      return stepTo(state, [{ ...stateTracker.initial, base: "thinking" }, "turn_started"]);
    case "turn_ended":
      return endTurn(state, input.outcome);
    default:
      return stepTo(state, state.base === "idle" || state.isEnding ? undefined : changeBy(state, input));
  }
}

function changeBy(state: TrackedState, input: MachineInput): Change {
  switch (input.kind) {
    case "iteration_started":
      return [{ ...state, isLast: input.iteration >= input.maxIterations }, input.kind];
    case "stream_started":
      return [{ ...state, base: "thinking", named: [], begun: [], over: [] }, input.kind];
    case "chunk":
      return state.base === "error" ? undefined : changeByChunk(state, input.chunk);
    case "stream_failed":
      return [{ ...state, base: input.willRetry === true ? "thinking" : "error", named: [] }, input.code];
    case "answer_stored":
      return changeByAnswer(state, input.message.content);
    case "tool_started":
      return changeByTool(state, input.toolCallId, state.over);
    case "tool_finished":
      return changeByTool(state, input.toolCallId, [...state.over, input.toolCallId]);
    case "human_asked":
      return [{ ...state, asking: [...state.asking, input.requestId] }, "human_input_asked"];
    case "human_answered":
      return [{ ...state, asking: state.asking.filter((id) => id !== input.requestId) }, "human_input_answered"];
    case "interrupted":
    case "limit_reached":
      return [{ ...state, isEnding: true }, input.kind];
    default:
      return undefined;
  }
}

function changeByChunk(state: TrackedState, chunk: AnswerChunk): Change {
  if (chunk.kind === "tool_call") {
    return [{ ...state, base: "planning_tool", named: [...state.named, chunk.id] }, "tool_call"];
  }
  // Text beside calls does not hide that tools are coming.
  if (chunk.kind === "text" && chunk.text !== "" && state.named.length === 0) {
    return [{ ...state, base: "responding" }, "text"];
  }
  return undefined;
}

function changeByAnswer(state: TrackedState, content: readonly ContentPart[]): Change {
  const named = content.flatMap((part) => (part.type === "tool_use" ? [part.id] : []));
  const base = named.length > 0 ? "planning_tool" : "responding";
  return [{ ...state, base, named, begun: [], over: [] }, "answer_stored"];
}

/** `over` holds this call when its result has come. */
function changeByTool(state: TrackedState, id: string, over: readonly string[]): Change {
  const named = withId(state.named, id);
  const begun = withId(state.begun, id);
  const next = { ...state, named, begun, over };
  if (named.every((call) => over.includes(call))) {
    return [state.isLast ? next : { ...next, base: "thinking" }, "tool_results"];
  }
  if (named.every((call) => begun.includes(call))) return [{ ...next, base: "awaiting_tool_result" }, "tools_running"];
  return [next, "tool"];
}

function withId(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id];
}

function endTurn(state: TrackedState, outcome: TurnEnd): Step<TrackedState> {
  const from = visibleState(state);
  if (from === "idle") return [state, []];
  switch (outcome.end) {
    case "complete":
      return [stateTracker.initial, stateChange(from, "idle", outcome.stopReason)];
    case "cancelled":
      return [stateTracker.initial, stateChange(from, "idle", outcome.reason)];
    case "failed":
      return [
        stateTracker.initial,
        [...stateChange(from, "error", outcome.code), ...stateChange("error", "idle", "turn_failed")],
      ];
  }
}

function stepTo(state: TrackedState, change: Change): Step<TrackedState> {
  if (change === undefined) return [state, []];
  const [next, cause] = change;
  return [next, stateChange(visibleState(state), visibleState(next), cause)];
}

function stateChange(from: AgentState, to: AgentState, cause: string): readonly MachineOutput[] {
  return from === to ? [] : [{ type: "agent_state_changed", payload: { from, to, cause } }];
}
