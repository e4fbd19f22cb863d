import type { StopReason, ToolUsePart, Usage } from "../content.js";
import type { TokenPrice } from "./input.js";

/**
 * Why an answer ended, by what it holds: some APIs say `tool_use` without a call, or `end_turn` beside one. Only a
 * `tool_use` answer has its calls run.
 */
export function settledStopReason(said: StopReason, hasCalls: boolean): StopReason {
  if (said === "end_turn" && hasCalls) return "tool_use";
  if (said === "tool_use" && !hasCalls) return "end_turn";
  return said;
}

/** USD for one model call; cached tokens without a price of their own cost as much as fresh ones. */
export function costOf(usage: Usage, price: TokenPrice): number {
  const prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const rates = price.above !== undefined && prompt > price.above.tokens ? price.above : price;
  const perMillion =
    usage.input_tokens * rates.input +
    usage.output_tokens * rates.output +
    usage.cache_read_tokens * (rates.cacheRead ?? rates.input) +
    usage.cache_write_tokens * (rates.cacheWrite ?? rates.input);
  return perMillion / 1_000_000;
}

/** What an answer has cost: as its provider says, else by the price. Undefined when neither is known. */
export function answerCost(
  answer: { readonly usage: Usage; readonly costUsd?: number | undefined },
  price: TokenPrice | undefined,
): number | undefined {
  return answer.costUsd ?? (price === undefined ? undefined : costOf(answer.usage, price));
}

/** A call from the model's own bytes. Bytes that are not a JSON object are kept beside an empty input; none mean `{}`. */
export function toToolUse(id: string, name: string, json: string): ToolUsePart {
  if (json.trim() === "") return { type: "tool_use", id, name, input: {} };
  const input = parseObject(json);
  return input === undefined
    ? { type: "tool_use", id, name, input: {}, invalid_json: json }
    : { type: "tool_use", id, name, input };
}

/** The JSON object that the text is, or undefined. */
export function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
