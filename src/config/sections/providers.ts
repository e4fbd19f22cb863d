import { z } from "zod";
import { flag, number, optionalAddress, optionalText, seconds, thinking, toFlag } from "../values.js";

/** One model API. Without `apiKey` and `apiBase` it counts as absent. */
export const provider = z.strictObject({
  apiKey: optionalText.describe(
    "The key from your account there. Without key and address the provider counts as absent.",
  ),
  apiBase: optionalAddress.describe("Address of the API, if it is not the provider's own."),
  apiFormat: z
    .preprocess(
      (value) => (typeof value === "string" ? value.trim().toLowerCase() || undefined : value),
      z.enum(["openai", "anthropic"]).optional(),
    )
    .describe(
      "Which of the two the API speaks: `openai` or `anthropic`. Without it: `anthropic` for anthropic, `openai` for all others.",
    ),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .describe("Sent with each request. The values count as secrets."),
  /** In seconds: until the answer begins, between two pieces of it, and for the whole of it. */
  timeouts: z
    .strictObject({
      firstByte: seconds.optional().meta({ description: "How long to wait until the answer begins.", unit: "seconds" }),
      idle: seconds
        .optional()
        .meta({ description: "How long to wait between two pieces of an answer.", unit: "seconds" }),
      total: seconds.optional().meta({ description: "How long a whole answer may take.", unit: "seconds" }),
    })
    .prefault({}),
  models: z
    .array(
      z.preprocess(
        (value) => (typeof value === "string" ? { id: value } : value),
        z.strictObject({
          id: z
            .string()
            .trim()
            .min(1, "a name of at least one character")
            .describe("A model as the API names it. A plain text in the list is an id, too."),
          name: optionalText.describe("Its name for people."),
          maxTokens: number(z.number().int().min(0)).optional().meta({
            description: "The longest answer of this model. 0 means `agents.defaults.maxTokens`.",
            unit: "tokens",
          }),
          contextWindow: number(z.number().int().min(0)).optional().meta({
            description:
              "How much this model can take in one request and its answer. 0 means `agents.defaults.contextWindow`.",
            unit: "tokens",
          }),
          enabled: flag(true).describe("Off: this model is not used."),
          supportsImageInput: z
            .preprocess(toFlag, z.boolean())
            .optional()
            .describe("Send images to it. Without it, the model's name decides."),
          thinking: thinking
            .optional()
            .describe("How much this model thinks. Without it, `agents.defaults.thinking` counts."),
        }),
      ),
    )
    .default([])
    .describe("The models that you want to use there, each as its id or as an object."),
});
