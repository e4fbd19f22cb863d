import { z } from "zod";
import { formatCost, formatCount, formatGuess, formatUsd } from "../../util/text/amounts.js";
import { print, printTable } from "./output.js";

const count = z.number();
const row = {
  turns: count,
  calls: count,
  usage: z.object({ input_tokens: count, output_tokens: count, cache_read_tokens: count, cache_write_tokens: count }),
  costUsd: count,
  unpricedCalls: count,
  guessedTokens: count,
  guessedUsd: count,
};
const models = z.array(z.object({ model: z.string(), ...row }));
const report = z.object({
  timeZone: z.string(),
  days: z.array(z.object({ day: z.string(), ...row })),
  models,
  total: z.object(row),
  budgets: z.array(
    z.object({
      scope: z.string(),
      unit: z.enum(["tokens", "usd", "turns"]),
      limit: count,
      used: count,
      subject: z.string().optional(),
    }),
  ),
});
type Row = z.infer<typeof report>["total"];

/** What `GET /api/usage` said, as tables. */
export function printUsage(body: unknown, days: number): void {
  const { timeZone, days: used, models: byModel, total, budgets } = report.parse(body);
  if (used.length === 0) {
    print(`Nothing was used in the last ${days === 1 ? "day" : `${days} days`} (${timeZone}).`);
    return;
  }
  const head = ["Turns", "Answers", "Read", "From cache", "Written", "Cost"];
  printTable(["Day", ...head], [...used.map((one) => [one.day, ...cells(one)]), ["Total", ...cells(total)]]);
  print("");
  printTable(
    ["Model", ...head.slice(1)],
    byModel.map((one) => [one.model, ...cells(one).slice(1)]),
  );
  const notes = notesOn(
    total,
    budgets.some(({ unit }) => unit === "usd"),
  );
  if (notes.length > 0) print("");
  for (const note of notes) print(note);
  if (budgets.length === 0) return;
  print("");
  printTable(
    ["Budget for today", "Used", "Limit"],
    budgets.map(({ scope, subject, unit, used: soFar, limit }) => {
      const amount = (value: number): string => (unit === "usd" ? formatUsd(value) : `${formatCount(value)} ${unit}`);
      return [subject === undefined ? scope : `${scope} ${subject}`, amount(soFar), amount(limit)];
    }),
  );
}

function cells({ turns, calls, usage, costUsd, unpricedCalls }: Row): readonly string[] {
  const read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return [
    formatCount(turns),
    formatCount(calls),
    formatCount(read),
    formatCount(usage.cache_read_tokens),
    formatCount(usage.output_tokens),
    formatCost(costUsd, unpricedCalls),
  ];
}

function notesOn({ calls, unpricedCalls, guessedTokens, guessedUsd }: Row, countsMoney: boolean): readonly string[] {
  const notes: string[] = [];
  if (unpricedCalls > 0)
    notes.push(
      `No price is known for ${formatCount(unpricedCalls)} of ${formatCount(calls)} answers: set prices.<model> in the config.${countsMoney ? " Until then budgets in dollars do not count them." : ""}`,
    );
  if (guessedTokens > 0)
    notes.push(
      `Answers that were cut off have used about ${formatCount(guessedTokens)} tokens (${formatGuess(guessedUsd, unpricedCalls)}) more: a guess.`,
    );
  return notes;
}
