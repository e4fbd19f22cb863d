import type { Exceeded } from "../../budgets/limits.js";
import type { Machines } from "../../events/machines/run-machines.js";
import type { ChosenModel, ModelRequest } from "../../providers/provider.js";
import { formatCount, formatUsd } from "../../util/text/amounts.js";
import { tokensOfRequest } from "../model/request-tokens.js";

/** What a call will cost at least: its prompt, as if all that was said before came from the provider's cache. */
export function minimumCost(
  model: ChosenModel,
  request: ModelRequest,
): { readonly tokens: number; readonly usd: number } {
  const tokens = tokensOfRequest(request);
  const { price } = model;
  const isFirst = request.messages.length <= 1;
  const rate = isFirst ? price?.input : Math.min(price?.cacheRead ?? price?.input ?? 0, price?.input ?? 0);
  return { tokens, usd: (tokens * (rate ?? 0)) / 1_000_000 };
}

/** What the turn has used, in the form that budgets are compared with. */
export function usedBy(machines: Machines) {
  const { usage, costUsd } = machines.turn();
  return { usage, costUsd };
}

/** Says which budget is used up and when it begins again. */
export function budgetSentence(exceeded: Exceeded, timeZone: string): string {
  const { scope, used, limit, needed, unit } = exceeded;
  const amount = (value: number): string => amountIn(unit, value);
  const how =
    used >= limit
      ? `is used up: ${amount(used)} of ${amount(limit)}`
      : `is not enough to go on: ${amount(used)} of ${amount(limit)} are used, and the next step needs about ${amount(needed)}`;
  const startsAgain = `It starts again at midnight (${timeZone}).`;
  switch (scope) {
    case "turn":
      return `The budget for one answer ${how}. I stopped here.`;
    case "spawn":
      return `The budget for one sub-agent ${how}. It stopped here.`;
    case "session":
      return `The budget of this conversation ${how}. /new begins a fresh one.`;
    case "sender":
      return `Your budget for today ${how}. ${startsAgain}`;
    case "job":
      return `The budget of this scheduled job for today ${how}. ${startsAgain}`;
    case "day":
      return `The budget of this assistant for today ${how}. ${startsAgain}`;
    default:
      return scope satisfies never;
  }
}

/** `1,200 tokens`, `$0.50`, `1 turn`. */
export function amountIn(unit: Exceeded["unit"], value: number): string {
  if (unit === "usd") return formatUsd(value);
  return `${formatCount(value)} ${value === 1 ? unit.slice(0, -1) : unit}`;
}
