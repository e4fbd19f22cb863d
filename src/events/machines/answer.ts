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
  const perMillion =
    usage.input_tokens * price.input +
    usage.output_tokens * price.output +
    usage.cache_read_tokens * (price.cacheRead ?? price.input) +
    usage.cache_write_tokens * (price.cacheWrite ?? price.input);
  return perMillion / 1_000_000;
}

/** A call from the model's own bytes. Bytes that are no JSON object are kept beside an empty input; none mean `{}`. */
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
