import { z } from "zod";
import { stopReasons, usage } from "../content.js";
import { both, category, count, discarded, modelUse, optionalText, spec, text } from "./spec.js";

/** How a turn went on and ended, and what it is called. */
export const turnEvents = {
  turn_execution_start: spec("turn", {
    message_ids: z.array(text),
    queued_ms: count,
    attempt: count,
    /** The failed turn that is tried again. */
    retry_of: optionalText,
  }),
  turn_iteration_start: spec("turn", { iteration: count, max_iterations: count, model: text }, { detail: true }),
  skill_matched: spec("turn", {
    skills: z.array(z.object({ name: text, source: text, chars: count, truncated: z.boolean() })),
    missing: z.array(text),
    selector: text,
  }),
  context_compressed: spec(
    "turn",
    {
      strategy: text,
      original_message_count: count,
      final_message_count: count,
      estimated_tokens: count,
      token_budget: count,
      utilization_pct: z.number(),
      summary: text,
      ...modelUse,
    },
    both,
  ),
  doom_loop_detected: spec("turn", { tool_name: text, input: z.record(text, z.unknown()), repeat_count: count }),
  turn_execution_complete: spec(
    "turn",
    {
      message_ids: z.array(text),
      message_id: text,
      stop_reason: z.enum([...stopReasons, "max_iterations", "empty"]),
      remark: text.optional(),
      iterations: count,
      usage,
      cost_usd: z.number().optional(),
      duration_ms: count,
      tool_calls: z.array(z.object({ id: text, name: text, is_error: z.boolean(), duration_ms: count })),
      errors: z.array(text),
      discarded,
    },
    { terminal: true },
  ),
  turn_execution_failed: spec(
    "turn",
    {
      message_ids: z.array(text),
      code: text,
      category,
      message: text,
      recoverable: z.boolean(),
      usage,
      duration_ms: count,
      discarded,
      /** It can be tried again; `waits`: the gateway does so by itself once the provider answers. */
      retry: z.enum(["offered", "waits"]).optional(),
      /** Until when it waits for that, ISO 8601. */
      retry_until: optionalText,
    },
    { terminal: true, ...both },
  ),
  turn_execution_cancelled: spec(
    "turn",
    {
      message_ids: z.array(text),
      reason: z.enum(["user_interrupt", "timeout", "abort"]),
      mode: text,
      partial_message_id: optionalText,
      discarded,
    },
    { terminal: true, ...both },
  ),
  session_title_generated: spec("state", {
    title: text,
    generated_by: z.enum(["model", "fallback", "user"]),
    ...modelUse,
  }),
} as const;
