import type { Measured } from "../../budgets/limits.js";
import type { Usage } from "../../events/content.js";
import { formatCount, formatUsd } from "../../util/text/amounts.js";
import { payerOf } from "../model/payer.js";
import { amountIn } from "../turn/budget.js";
import type { CommandOutcome, CommandScope } from "./scope.js";

/** `/usage`: what this conversation and today have used, and how much of each budget is left. */
export function runUsageCommand({ ports, session, message }: CommandScope): CommandOutcome {
  const { spending } = session;
  const { budgets } = ports;
  const account = payerOf(message);
  const isOwner = ports.commands.mayCommand(message, "totals", false) === undefined;
  const today = budgets.today(isOwner ? undefined : account.sender);
  const measured = budgets.measure(account, spending).filter(({ scope }) => isOwner || scope !== "day");
  const lines = [
    `This conversation: ${amounts(spending)}`,
    ...guessLine("Cut off in it, as a guess", spending),
    `${isOwner ? "Today" : "You today"} (${budgets.calendar.timeZone}): ${amounts(today)}`,
  ];
  lines.push(...guessLine("Cut off today, as a guess", today));
  const left = measured.flatMap(linesOf);
  if (left.length > 0) lines.push("", "Budgets:", ...left);
  return { reply: lines.join("\n"), events: [] };
}

function guessLine(
  what: string,
  used: { readonly guessedTokens: number; readonly guessedUsd: number; readonly unpricedCalls: number },
): readonly string[] {
  const { guessedTokens, guessedUsd, unpricedCalls } = used;
  if (guessedTokens === 0) return [];
  const cost = guessedUsd === 0 && unpricedCalls > 0 ? "cost unknown" : formatUsd(guessedUsd);
  return [`${what}: ${formatCount(guessedTokens)} tokens, ${cost}`];
}

interface Used {
  readonly turns: number;
  readonly calls: number;
  readonly unpricedCalls: number;
  readonly usage: Usage;
  readonly costUsd: number;
}

function amounts({ turns, calls, unpricedCalls, usage, costUsd }: Used): string {
  const read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const cached = usage.cache_read_tokens === 0 ? "" : ` (${formatCount(usage.cache_read_tokens)} from the cache)`;
  return [
    amountIn("turns", turns),
    `${formatCount(read)} tokens read${cached}`,
    `${formatCount(usage.output_tokens)} written`,
    costText(costUsd, calls, unpricedCalls),
  ].join(", ");
}

/** A price that nobody knows is said, and never counted as nothing. */
function costText(costUsd: number, calls: number, unpricedCalls: number): string {
  if (unpricedCalls === 0) return formatUsd(costUsd);
  if (costUsd === 0) return "cost unknown (no price for the model)";
  return `at least ${formatUsd(costUsd)} (no price for ${formatCount(unpricedCalls)} of ${formatCount(calls)} answers)`;
}

function linesOf({ scope, limits, used }: Measured): readonly string[] {
  const names = {
    turn: "One answer",
    spawn: "One sub-agent",
    session: "This conversation",
    sender: "You today",
    job: "Job today",
    day: "Today",
  };
  return (["tokens", "usd", "turns"] as const).flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [`- ${names[scope]}: ${amountIn(unit, used[unit])} of ${amountIn(unit, limit)}`];
  });
}
