import type { BudgetLimits } from "../budgets/limits.js";
import type { ResidentSession } from "../sessions/resident-session.js";
import type { SessionUsage } from "./gateway-api.js";

/** What a session has used, in all and since `/new`, and how far its budget is used. */
export function toSessionUsage(
  { document, spending }: ResidentSession,
  { session: limits }: BudgetLimits,
): SessionUsage {
  const { usage, costUsd, unpricedCalls = 0 } = document.toDocument().metadata;
  const { turns, calls, costUsd: usd } = spending;
  const tokens = Object.values(spending.usage).reduce((sum, count) => sum + count, 0);
  const used = { tokens, usd, turns };
  return {
    usage,
    costUsd,
    unpricedCalls,
    conversation: { turns, calls, usage: spending.usage, costUsd: usd, unpricedCalls: spending.unpricedCalls },
    budgets: (["tokens", "usd", "turns"] as const).flatMap((unit) => {
      const limit = limits?.[unit];
      return limit === undefined ? [] : [{ scope: "session" as const, unit, limit, used: used[unit] }];
    }),
  };
}
