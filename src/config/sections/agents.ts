import { z } from "zod";
import { flag, number, optionalText, thinking, whole } from "../values.js";

export const agentDefaults = z.strictObject({
  workspace: optionalText.describe(
    "The folder that the assistant works in. `~` works; a relative path starts at the home folder.",
  ),
  model: optionalText.describe(
    "The model that answers: `provider/model`, or the id of a model that is listed under a provider. Without one, the first model of a provider answers.",
  ),
  fallbacks: z
    .array(z.string().trim().min(1, "a name of at least one character"))
    .default([])
    .describe("Models that answer, in this order, when the chosen one cannot."),
  thinking: thinking
    .optional()
    .describe(
      "How much the model thinks before it answers: `off`, `low`, `medium`, `high`, or an upper bound in tokens (1024 or more). Without it, each model does what it usually does.",
    ),
  maxTokens: whole(1, 1_000_000, 8192).meta({
    description: "The longest answer that a model may give.",
    unit: "tokens",
  }),
  contextWindow: whole(2000, 10_000_000, 128_000).meta({
    description: "How much one request and its answer may hold together, for models that do not say it themselves.",
    unit: "tokens",
  }),
  compactAt: number(z.number().min(0.1).max(0.95))
    .default(0.8)
    .describe(
      "When a conversation fills more than this part of what the model can hold, its older part is summarised. `0.8` means 80 %.",
    ),
  temperature: number(z.number().min(0).max(2))
    .default(0.7)
    .describe("How freely the model chooses its words: 0 is strict, 2 is very free."),
  maxToolIterations: whole(1, 1000, 20).describe(
    "How often the model may be called for one message. Each use of a tool needs one more call.",
  ),
  executionMode: z
    .enum(["safe", "ask", "auto"])
    .default("ask")
    .describe(
      "What the assistant may do by itself. `safe`: it only reads. `ask`: it asks before risky steps. `auto`: it does not ask.",
    ),
  quietMs: whole(0, 10_000, 600).meta({
    description:
      "People often send several short texts in a row. So long the assistant waits for the next one before it answers all of them together.",
    unit: "milliseconds",
  }),
  quietAfter: z
    .enum(["unfinished", "every"])
    .default("unfinished")
    .describe(
      "When it waits for the next text. `unfinished`: only after one that plainly goes on. `every`: after each one; then every answer comes a little later.",
    ),
  enableGlobalSkills: flag(true).describe("Also offer the skills in `~/.agents/skills`."),
  timezone: optionalText
    .refine((zone) => zone === undefined || isTimeZone(zone), "a time zone such as Europe/Berlin")
    .describe(
      "Your time zone, for example `Europe/Berlin`. The assistant's clock and the start of a day follow it. Without one, the zone of this machine counts.",
    ),
});

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}
