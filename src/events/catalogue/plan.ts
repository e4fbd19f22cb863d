import { z } from "zod";
import { both, optionalText, planStatuses, spec, stepStatuses, text } from "./spec.js";

/** The plan of a session. */
export const planEvents = {
  plan_updated: spec(
    "turn",
    {
      plan: z.object({
        goal: text,
        status: z.enum(planStatuses),
        /** Only where a plan comes from elsewhere: else the events tell the times. */
        created_at: optionalText,
        steps: z.array(
          z.object({
            id: text,
            description: text,
            status: z.enum(stepStatuses),
            result: optionalText,
            started_at: optionalText,
            completed_at: optionalText,
          }),
        ),
      }),
      /** The step that changed, where it is one. */
      step_id: optionalText,
      /** Why, or what a reflection found. */
      note: optionalText,
      /** `channel:sender` of who wants the plan; told when it begins. */
      by: optionalText,
      /** Where what others wrote came from while the plan was made or changed. */
      outside: optionalText,
      change: z.enum([
        "entered",
        "created",
        "revised",
        "status_changed",
        "step_ready",
        "step_started",
        "step_completed",
        "step_skipped",
        "snapshot_taken",
        "rolled_back",
        "reflected",
        "adjusted",
        "execution_started",
        "completed",
        "exited",
      ]),
    },
    both,
  ),
} as const;
