import { z } from "zod";
import { defineTool } from "../tool.js";

const actions = [
  "create",
  "revise",
  "start",
  "complete",
  "skip",
  "reflect",
  "snapshot",
  "rollback",
  "pause",
  "continue",
  "fail",
] as const;
const line = z.string().max(500);

export const planTool = defineTool({
  name: "plan",
  description:
    "The plan of a long task. create: goal, steps. complete each step with its result in text. revise replaces the steps that are left. reflect: findings in text, adjust: step+text rewords, step alone skips, text adds.",
  input: z.object({
    action: z.enum(actions),
    goal: z.string().max(1000).optional(),
    steps: z.array(line).max(30).optional(),
    step: z.string().max(40).optional(),
    text: z.string().max(2000).optional(),
    adjust: z
      .array(z.object({ step: z.string().optional(), text: line.optional(), after: z.string().optional() }))
      .max(30)
      .optional(),
  }),
  // A change that is not stored has not happened.
  effect: "idempotent",
  risk: "none",
  origin: "builtin",

  run: async (request, context) => context.changePlan(request),
});
