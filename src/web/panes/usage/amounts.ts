import { costOf, numberOf } from "../../parts/format.js";
import { localeOfPage } from "../../words/language.js";
import type { Row } from "./report.js";
import { usageWords } from "./words.js";

export type Measure = "cost" | "tokens";

/** Says so where a part of it, or all of it, has no known price. */
export function costText({ cost, unpriced }: Pick<Row, "cost" | "unpriced">): string {
  if (unpriced === 0) return costOf(cost);
  return cost === 0 ? usageWords.t("unknown") : usageWords.t("atLeast", { amount: costOf(cost) });
}

/** Of answers that were cut off. Without a price it is not nothing. */
export function guessedCostText({ guessedCost, unpriced }: Pick<Row, "guessedCost" | "unpriced">): string {
  return guessedCost === 0 && unpriced > 0 ? usageWords.t("unknown") : costOf(guessedCost);
}

/** `12,345`, and `1.2M` from a hundred thousand on. */
export function tokensText(tokens: number): string {
  if (tokens < 100_000) return numberOf(tokens);
  return tokens.toLocaleString(localeOfPage(), { notation: "compact", maximumFractionDigits: 1 });
}

export function amountText(row: Row, measure: Measure): string {
  return measure === "cost" ? costText(row) : usageWords.t("tokensOf", { n: tokensText(row.tokens) });
}

export function sizeOf(row: Row, measure: Measure): number {
  return measure === "cost" ? row.cost : row.tokens;
}

/** `Mon, 23 Nov`. Days are the gateway's, whatever zone the reader is in. */
export function dayText(day: string): string {
  const date = new Date(`${day}T12:00:00Z`);
  return date.toLocaleDateString(localeOfPage(), { timeZone: "UTC", weekday: "short", day: "numeric", month: "short" });
}
