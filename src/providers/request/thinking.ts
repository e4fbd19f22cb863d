import type { Thinking } from "../provider.js";

type Level = "low" | "medium" | "high";

/** Tokens that stand for each word where an API wants a number. */
const budgets: Readonly<Record<Level, number>> = { low: 2048, medium: 8192, high: 16_384 };

/** The least that Anthropic takes. */
export const leastBudget = 1024;

/** The thinking in tokens; 0 for none. */
export function toBudget(thinking: Thinking): number {
  if (thinking === "off") return 0;
  return typeof thinking === "number" ? Math.max(leastBudget, Math.round(thinking)) : budgets[thinking];
}

/** The thinking as a word; a number of tokens is taken for the nearest one that is not below it. */
export function toLevel(thinking: Exclude<Thinking, "off">): Level {
  if (typeof thinking !== "number") return thinking;
  if (thinking <= budgets.low) return "low";
  return thinking <= budgets.medium ? "medium" : "high";
}

/** `off`, `low`, `medium`, `high` or a number of tokens; undefined for anything else. */
export function parseThinking(text: string): Thinking | undefined {
  const word = text.trim().toLowerCase();
  if (word === "off" || word === "low" || word === "medium" || word === "high") return word;
  const tokens = /^\d{1,6}$/.test(word) ? Number(word) : Number.NaN;
  if (tokens === 0) return "off";
  return Number.isNaN(tokens) ? undefined : Math.max(leastBudget, tokens);
}
