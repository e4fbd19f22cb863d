import type { StoredEvent } from "../../event.js";
import type { Step } from "./step.js";
import type { TurnLine } from "./turn-line.js";
import { TurnLines } from "./turn-lines.js";
import { TurnSteps } from "./turn-steps.js";

/** One turn as a picture: everything that took time in it, and what it led to. */
export interface Timeline {
  readonly turn: TurnLine;
  /** From the first message's coming in to the last thing that the log tells. */
  readonly totalMs: number;
  /** In the order of their begins. */
  readonly steps: readonly Step[];
  /**
   * `kept`: the log has every detail. `dropped`: they have left it (`events.detailDays`). `never`: they were not stored
   * (`events.persistDetail: false`). Without them the begins of model calls are taken from what came before.
   */
  readonly details: "kept" | "dropped" | "never";
}

/**
 * A turn from the events of its session's log, in order: those of the turn itself, and what came in for it before and
 * went out of it later. Undefined where they do not hold its begin.
 */
export function toTimeline(events: readonly StoredEvent[], turnId: string): Timeline | undefined {
  const lines = new TurnLines();
  for (const event of events) lines.apply(event);
  const turn = lines.lines.find((line) => line.turnId === turnId);
  if (turn === undefined) return undefined;
  const steps = new TurnSteps(turnId, events, Date.parse(turn.began.at));
  for (const event of events) steps.apply(event);
  return { turn, details: detailsOf(events, turn), ...steps.result };
}

/** A turn that called a model tells its states, unless they were never stored or have left the log. */
function detailsOf(events: readonly StoredEvent[], turn: TurnLine): Timeline["details"] {
  const own = events.filter((event) => event.turn_id === turn.turnId);
  if (turn.used.modelCalls === 0 || own.some(({ type }) => type === "agent_state_changed")) return "kept";
  return own.some(({ metadata }) => metadata.dropped !== undefined) ? "dropped" : "never";
}
