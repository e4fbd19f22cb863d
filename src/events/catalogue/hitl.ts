import { z } from "zod";
import { both, count, optionalText, spec, text } from "./spec.js";

/** Questions to people, and their answers. */
export const hitlEvents = {
  human_input_asked: spec(
    "hitl",
    {
      request_id: text,
      kind: z.enum(["clarification", "decision", "env_var", "permission"]),
      question: text,
      approver: z.enum(["asker", "owner"]).optional(),
      tool_call_id: optionalText,
      tool_name: optionalText,
      input: z.record(text, z.unknown()).optional(),
      patterns: z.array(text).optional(),
      options: z.array(
        z.object({
          id: text,
          label: text,
          description: optionalText,
          recommended: z.boolean().optional(),
          risk_level: optionalText,
        }),
      ),
      allow_custom: z.boolean(),
      default: optionalText,
      fields: z.array(text).optional(),
      mid_call: z.boolean().optional(),
      timeout_seconds: count,
      expires_at: text,
    },
    both,
  ),
  human_input_answered: spec("hitl", {
    request_id: text,
    kind: z.enum(["clarification", "decision", "env_var", "permission"]),
    outcome: z.enum(["answered", "timeout", "cancelled"]),
    answer: text,
    responder_id: text,
  }),
} as const;
