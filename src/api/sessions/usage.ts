import type { BudgetLimits } from "../../budgets/limits.js";
import type { ResidentSession } from "../../sessions/resident-session.js";
import type { SessionUsage } from "./sessions-api.js";

/** What a session has used, in all and since `/new`, and how far its budget is used. */
export function toSessionUsage(
  { document, spending }: ResidentSession,
  { session: limits }: BudgetLimits,
): SessionUsage {
  const { usage, costUsd, unpricedCalls = 0, guessedTokens = 0, guessedUsd = 0 } = document.toDocument().metadata;
  const { turns, calls } = spending;
  const counted = Object.values(spending.usage).reduce((sum, count) => sum + count, 0);
  const used = { tokens: counted + spending.guessedTokens, usd: spending.costUsd + spending.guessedUsd, turns };
  return {
    usage,
    costUsd,
    unpricedCalls,
    ...guessed(guessedTokens, guessedUsd),
    conversation: {
      turns,
      calls,
      usage: spending.usage,
      costUsd: spending.costUsd,
      unpricedCalls: spending.unpricedCalls,
      ...guessed(spending.guessedTokens, spending.guessedUsd),
    },
    budgets: (["tokens", "usd", "turns"] as const).flatMap((unit) => {
      const limit = limits?.[unit];
      return limit === undefined ? [] : [{ scope: "session" as const, unit, limit, used: used[unit] }];
    }),
  };
}

function guessed(tokens: number, usd: number): { readonly guessedTokens?: number; readonly guessedUsd?: number } {
  return tokens === 0 ? {} : { guessedTokens: tokens, guessedUsd: usd };
}
