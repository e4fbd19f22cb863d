import { ProviderError } from "../errors.js";
import type { ModelRequest, ProviderChunk } from "./provider.js";

/** What some models and servers refuse or demand, learned from their own error messages. */
export type Adjustment =
  /** Newer reasoning models take no `temperature`. */
  | "no_temperature"
  /** OpenAI's reasoning models want `max_completion_tokens` instead of `max_tokens`. */
  | "max_completion_tokens"
  /** Older servers do not know `stream_options`. */
  | "no_stream_options"
  /** Small local models without a template for tools. */
  | "no_tools"
  /** DeepSeek and Kimi want the thinking back with each message that calls tools. */
  | "reasoning_content"
  /** Gemini wants its own proof of thought back with each call; this documented word stands for it. */
  | "thought_signature"
  /** Newer Claude models take no budget of tokens for their thinking, only an effort. */
  | "adaptive_thinking"
  /** Older ones take nothing but the budget. */
  | "thinking_budget"
  /** Models that do not think on demand, or do not let it be switched off. */
  | "no_thinking"
  /** The same, as OpenAI's API calls it. */
  | "no_reasoning_effort"
  /** Another server's thinking, which Anthropic cannot verify, is in the conversation. */
  | "no_thinking_back";

const signs: readonly (readonly [Adjustment, RegExp])[] = [
  ["max_completion_tokens", /max_completion_tokens/],
  ["no_stream_options", /stream_options|include_usage/],
  [
    "no_tools",
    /not support (tools|tool use|tool calling|function call)|support tool use|tools? (is|are) not supported/i,
  ],
  ["reasoning_content", /reasoning_content/],
  ["thought_signature", /thought_?signature/i],
  ["no_reasoning_effort", /reasoning[_.]effort|thinking_?level/i],
  ["adaptive_thinking", /thinking\.type\.enabled|use .{0,2}thinking\.type\.adaptive/i],
  ["thinking_budget", /adaptive/i],
  ["no_thinking_back", /signature.{0,40}thinking|thinking.{0,40}signature|`?(redacted_)?thinking`? blocks?/i],
  ["no_temperature", /temperature/i],
  ["no_thinking", /thinking|output_config|effort/i],
];

export type Adjustments = ReadonlySet<Adjustment>;

/** Remembers per model what its API wants otherwise. */
export interface AdjustmentMemory {
  /**
   * Calls `once`; a request that is refused as such, for a reason from the list above, is asked again in the form that
   * the server wants. No other failure is tried again, and nothing once a chunk has come.
   */
  adjusting(
    request: Pick<ModelRequest, "model" | "thinking">,
    once: (known: Adjustments) => AsyncIterable<ProviderChunk>,
  ): AsyncGenerator<ProviderChunk>;
}

export function createAdjustmentMemory(): AdjustmentMemory {
  const byModel = new Map<string, Set<Adjustment>>();
  return {
    async *adjusting({ model, thinking }, once) {
      // That thinking cannot be switched off says nothing of switching it on.
      const key = thinking === "off" ? `${model} off` : model;
      const known = byModel.get(key) ?? new Set<Adjustment>();
      byModel.set(key, known);
      for (;;) {
        // Another call of the same model may learn something while this one is on its way.
        const tried = new Set(known);
        let hasBegun = false;
        try {
          for await (const chunk of once(tried)) {
            hasBegun = true;
            yield chunk;
          }
          return;
        } catch (error) {
          const wanted = hasBegun ? undefined : adjustmentFor(error, tried);
          if (wanted === undefined) throw error;
          known.add(wanted);
        }
      }
    },
  };
}

function adjustmentFor(error: unknown, tried: Adjustments): Adjustment | undefined {
  if (!(error instanceof ProviderError)) return undefined;
  // OpenRouter says 404 where no server behind it can call tools.
  if (error.kind !== "bad_request" && !(error.kind === "not_found" && /tool/i.test(error.message))) return undefined;
  const said = `${error.message} ${error.detail ?? ""}`;
  return signs.find(([adjustment, sign]) => !tried.has(adjustment) && sign.test(said))?.[0];
}
