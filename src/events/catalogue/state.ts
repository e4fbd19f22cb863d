import { z } from "zod";
import { usage } from "../content.js";
import { agentStates, both, count, optionalText, spec, text } from "./spec.js";

/** How a session, its agent and its sub-agents are. */
export const stateEvents = {
  agent_state_changed: spec(
    "state",
    { from: z.enum(agentStates), to: z.enum(agentStates), cause: text },
    { detail: true, ...both },
  ),
  session_state_changed: spec("state", { from: text, to: text, reason: text }),
  /** How the owner keeps the conversation. Not in the log: the newest marks are kept beside it. */
  session_marks_changed: spec(
    "state",
    {
      pinned: z.boolean(),
      archived: z.boolean(),
      /** Up to here the owner has read; absent where nothing was read since marks are kept. */
      read_seq: count.optional(),
    },
    { stored: false },
  ),
  subagent_state_changed: spec("state", {
    task_id: text,
    label: text,
    child_session_key: text,
    from: z.enum(["none", "pending", "running", "completed", "failed"]),
    to: z.enum(["pending", "running", "completed", "failed"]),
    summary: optionalText,
    error: optionalText,
    /** At its end: what it and its own sub-agents have used. */
    usage: usage.optional(),
    cost_usd: z.number().optional(),
  }),
} as const;
