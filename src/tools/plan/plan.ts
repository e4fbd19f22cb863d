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

export const planTool = defineTool({
  name: "plan",
  description:
    "Plan of a long task: create (goal, steps), complete each step (result in text), revise (steps left to do), reflect (text; adjust: step+text rewords, step skips, text adds).",
  // What is too long is cut or refused where it is used: limits here would be in every request.
  input: z.object({
    action: z.enum(actions),
    goal: z.string().optional(),
    steps: z.array(z.string()).optional(),
    step: z.string().optional(),
    text: z.string().optional(),
    adjust: z.array(z.object({ step: z.string().optional(), text: z.string().optional() })).optional(),
  }),
  // A change that is not stored has not happened.
  effect: "idempotent",
  risk: "none",
  origin: "builtin",

  run: async (request, context) => context.agent.changePlan(request),
});
