import { z } from "zod";

// Every field may be missing, null or of a surprising type: a server's own inventions never cost an answer.
const text = z.string().nullish().catch(undefined);
const count = z.number().nonnegative().nullish().catch(undefined);

const usage = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish().catch(undefined),
    /** DeepSeek. */
    prompt_cache_hit_tokens: count,
    /** Moonshot. */
    cached_tokens: count,
    /** OpenRouter: USD for this call. */
    cost: count,
  })
  .nullish()
  .catch(undefined);

const toolCall = z.object({
  index: z.coerce.number().int().nullish().catch(undefined),
  id: text,
  function: z
    .object({
      name: text,
      arguments: z
        .union([z.string(), z.record(z.string(), z.unknown())])
        .nullish()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
  /** Gemini's proof of thought, which it wants back with the call. */
  extra_content: z
    .object({ google: z.object({ thought_signature: text }).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});

const functionCall = toolCall.shape.function;

const delta = z
  .object({
    /** Text, or parts. */
    content: z.unknown().optional(),
    reasoning_content: z.unknown().optional(),
    /** OpenRouter, Groq, Ollama. */
    reasoning: z.unknown().optional(),
    /** OpenRouter, where it gives nothing else. */
    reasoning_details: z.unknown().optional(),
    refusal: text,
    tool_calls: z
      .union([z.array(toolCall), toolCall.transform((call) => [call])])
      .nullish()
      .catch(undefined),
    /** What tool calls were before there could be several. */
    function_call: functionCall,
  })
  .nullish()
  .catch(undefined);

/** One event of a chat completions stream; with `message` it is a whole answer. */
export const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: count,
        delta,
        message: delta,
        /** Of servers that answer in the form of the older completions. */
        text,
        finish_reason: text,
        /** Moonshot puts it here. */
        usage,
      }),
    )
    .nullish()
    .catch(undefined),
  usage,
  /** Groq's older place for the usage. */
  x_groq: z.object({ usage }).nullish().catch(undefined),
});

export type WireUsage = NonNullable<z.infer<typeof usage>>;
export type WireDelta = NonNullable<z.infer<typeof delta>>;
export type WireToolCall = z.infer<typeof toolCall>;
