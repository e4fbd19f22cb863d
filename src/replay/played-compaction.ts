import type { Compaction } from "../agent/model/compaction.js";
import type { Payload } from "../events/catalogue.js";
import type { Playhead } from "./played-tools.js";
import type { RecordedTurn } from "./recorded-turn.js";

interface Recorded {
  /** The model call before which it happened. */
  readonly iteration: number;
  readonly payload: Payload<"context_compressed">;
}

/** The summaries of a recorded turn, made again where they were made. */
export function playCompaction({ events }: RecordedTurn, playhead: Playhead): Compaction {
  const left: Recorded[] = [];
  let iteration = 1;
  for (const event of events) {
    if (event.type === "turn_iteration_start") iteration = event.payload.iteration;
    if (event.type === "context_compressed") left.push({ iteration, payload: event.payload });
  }
  const next = (): Payload<"context_compressed"> | undefined =>
    left[0]?.iteration === playhead.iteration + 1 ? left[0].payload : undefined;
  return {
    need() {
      const change = next();
      return change === undefined ? undefined : { estimated: change.estimated_tokens, budget: change.token_budget };
    },
    learn() {},
    async plan() {
      const change = next();
      left.shift();
      return change;
    },
  };
}
