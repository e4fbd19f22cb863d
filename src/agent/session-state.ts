import type { EventDraft } from "../events/event.js";
import { isClosed } from "../events/folds/session-state.js";
import type { TurnLog } from "./turn/turn-log.js";

/** A turn begins: nothing, where the session is at work already, or is over. */
export function toActive(log: TurnLog, state: string): EventDraft[] {
  return state === "active" || isClosed(state) ? [] : [change(log, state, "active", "turn_started")];
}

/** A turn ends: nothing, where somebody has ended the whole session meanwhile. */
export function toRest(log: TurnLog, state: string, to: keyof typeof reasons): EventDraft[] {
  return state === to || isClosed(state) ? [] : [change(log, state, to, reasons[to])];
}

/** A session goes on, or begins again after it was over, with nothing before it in sight. */
export function toFreshStart(log: TurnLog, state: string, to: string): EventDraft[] {
  const fresh = log.draft("session_history_changed", { kind: "new" });
  return state === to ? [fresh] : [fresh, change(log, state, to, "fresh_start")];
}

const reasons = { idle: "turn_ended", error: "turn_failed", aborted: "aborted" } as const;

function change(log: TurnLog, from: string, to: string, reason: string): EventDraft {
  return log.draft("session_state_changed", { from, to, reason });
}
