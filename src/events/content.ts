import { z } from "zod";

const text = z.object({ type: z.literal("text"), text: z.string() });
const thinking = z.object({ type: z.literal("thinking"), text: z.string(), signature: z.string().optional() });
const toolUse = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The model's own bytes, when they were not a JSON object; `input` is then empty and the call is not run. */
  invalid_json: z.string().optional(),
});
export const imagePart = z.object({
  type: z.literal("image"),
  mime_type: z.string(),
  path: z.string(),
  filename: z.string().optional(),
});
const toolResult = z.object({
  type: z.literal("tool_result"),
  tool_call_id: z.string(),
  content: z.string(),
  is_error: z.boolean(),
  images: z.array(imagePart).optional(),
});
const file = z.object({
  type: z.literal("file"),
  mime_type: z.string(),
  path: z.string(),
  filename: z.string(),
  size_bytes: z.number().int().nonnegative().optional(),
});

/** One part of a message, as events and provider requests carry it. */
export const contentPart = z.discriminatedUnion("type", [text, thinking, toolUse, toolResult, imagePart, file]);

export type TextPart = z.infer<typeof text>;
export type ThinkingPart = z.infer<typeof thinking>;
export type ToolUsePart = z.infer<typeof toolUse>;
export type ToolResultPart = z.infer<typeof toolResult>;
export type ImagePart = z.infer<typeof imagePart>;
export type ContentPart = z.infer<typeof contentPart>;

/** Tokens of one model call, or summed over a turn. Cached tokens are not counted again in `input_tokens`. */
export const usage = z.object({
  input_tokens: z.number().int().nonnegative(),
  output_tokens: z.number().int().nonnegative(),
  cache_read_tokens: z.number().int().nonnegative(),
  cache_write_tokens: z.number().int().nonnegative(),
});
export type Usage = z.infer<typeof usage>;

export const noUsage: Usage = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
  };
}

/** The plain text of some parts, joined without separators: text parts only. */
export function textOf(parts: readonly ContentPart[]): string {
  let joined = "";
  for (const part of parts) if (part.type === "text") joined += part.text;
  return joined;
}

/** Why a model's answer ended. */
export const stopReasons = ["end_turn", "tool_use", "max_tokens", "refusal", "interrupted", "error"] as const;
export type StopReason = (typeof stopReasons)[number];

/** The answer as people read it. */
export function withRemark(answer: string, remark: string | undefined): string {
  return remark === undefined ? answer : `${answer}\n\n${remark}`;
}
