import { z } from "zod";
import type { Toolbox } from "../agent/ports.js";
import type { StoredEvent } from "../events/event.js";
import type { PlanRequest, Tool, ToolResult } from "../tools/tool.js";
import type { RecordedTurn } from "./recorded-turn.js";

/** How far the model has come, by its calls. */
export interface Playhead {
  iteration: number;
}

/** Checked when the call was made. */
const planInput = z.custom<PlanRequest>((value) => typeof value === "object" && value !== null);

/** The tools of a recorded turn, which give the recorded results again and do nothing. */
export function playTools({ events }: RecordedTurn, playhead: Playhead): Toolbox {
  const results = new Map<string, ToolResult[]>();
  for (const event of events) {
    if (event.type !== "tool_execution_complete") continue;
    const { tool_call_id, output, is_error, summary } = event.payload;
    const result = { text: output, isError: is_error, summary };
    results.set(tool_call_id, [...(results.get(tool_call_id) ?? []), result]);
  }
  const sideBySide = iterationsSideBySide(events);
  return {
    declarations: () => [],
    // Calls of one answer run side by side when all of them only read.
    find: (name) => stub(name, sideBySide.has(playhead.iteration) ? "read" : "write", originOf(events, name)),
    async run(name, input, context) {
      const result = results.get(context.toolCallId)?.shift();
      if (result === undefined) throw new Error(`The record has no result of ${name} (${context.toolCallId})`);
      // Its change is worked out from the plan and the input alone.
      if (name === "plan" && !result.isError) context.changePlan(planInput.parse(input));
      return result;
    },
  };
}

/** The iterations in which a second call began before the first one was over. */
function iterationsSideBySide(events: readonly StoredEvent[]): ReadonlySet<number> {
  const found = new Set<number>();
  let running = 0;
  for (const event of events) {
    if (event.type === "tool_execution_start") {
      running += 1;
      if (running > 1) found.add(event.payload.iteration);
    }
    if (event.type === "tool_execution_complete") running -= 1;
  }
  return found;
}

function originOf(events: readonly StoredEvent[], name: string): Tool["origin"] {
  const start = events.find((event) => event.type === "tool_execution_start" && event.payload.tool_name === name);
  return start?.type === "tool_execution_start" ? start.payload.origin : "builtin";
}

function stub(name: string, effect: Tool["effect"], origin: Tool["origin"]): Tool {
  return {
    name,
    description: "",
    input: z.unknown(),
    effect,
    risk: "none",
    origin,
    run: () => Promise.reject(new Error(`${name} is only played`)),
  };
}
