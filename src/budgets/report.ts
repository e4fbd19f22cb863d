import type { Records } from "../engine/engine.js";
import type { Usage } from "../events/content.js";
import type { Calendar } from "./calendar.js";
import {
  addCounters,
  amountOf,
  type Counter,
  counterId,
  noCounter,
  parseCounterId,
  readCounter,
  toCounter,
} from "./counters.js";
import type { BudgetLimits, Measured, Scope, Unit } from "./limits.js";

/** What was used, in one day or by one of those who used it. */
export interface UsageRow {
  readonly turns: number;
  /** Answers of models. */
  readonly calls: number;
  readonly usage: Usage;
  /** Of the calls whose price is known. */
  readonly costUsd: number;
  /** Calls whose price nobody knows: their cost is not in `costUsd`. */
  readonly unpricedCalls: number;
  /** Guessed for answers that were cut off; in none of the other numbers. */
  readonly guessedTokens: number;
  readonly guessedUsd: number;
}

export interface DayUsage extends UsageRow {
  /** `2026-11-21`. */
  readonly day: string;
  readonly models: readonly (UsageRow & { readonly model: string })[];
  /** The last month only. */
  readonly senders: readonly (UsageRow & { readonly sender: string })[];
  readonly jobs: readonly (UsageRow & { readonly job: string })[];
}

/** One limit, and how far it is used. */
export interface BudgetUsage {
  readonly scope: Scope;
  readonly unit: Unit;
  readonly limit: number;
  readonly used: number;
  /** The sender or the job. */
  readonly subject?: string | undefined;
  /** The day. */
  readonly period?: string | undefined;
}

export interface UsageReport {
  /** Whose days these are. */
  readonly timeZone: string;
  /** The newest first; days without any use are left out. */
  readonly days: readonly DayUsage[];
  readonly models: readonly (UsageRow & { readonly model: string })[];
  readonly total: UsageRow;
  /** Of today. */
  readonly budgets: readonly BudgetUsage[];
}

export interface ReportSources {
  readonly records: Pick<Records, "get" | "list">;
  readonly calendar: Calendar;
  readonly limits: BudgetLimits;
  readonly now: number;
}

/** What the last days have used, today included. */
export function reportUsage({ records, calendar, limits, now }: ReportSources, days: number): UsageReport {
  const wanted = calendar.daysBefore(now, days);
  const details = new Map<string, { readonly of: string; readonly name: string; readonly counter: Counter }[]>();
  for (const { id, value } of records.list()) {
    const parsed = parseCounterId(id);
    if (parsed === undefined || parsed.name === "" || !wanted.includes(parsed.day)) continue;
    const ofDay = details.get(parsed.day) ?? [];
    ofDay.push({ of: parsed.of, name: parsed.name, counter: toCounter(value) });
    details.set(parsed.day, ofDay);
  }
  const models = new Map<string, Counter>();
  let total = noCounter;
  const used: DayUsage[] = [];
  for (const day of wanted) {
    const counter = readCounter(records, counterId("day", day));
    if (counter.turns + counter.calls + counter.guessedTokens === 0) continue;
    total = addCounters(total, counter);
    const rows = details.get(day) ?? [];
    const named = (of: string) =>
      rows.filter((row) => row.of === of).sort((a, b) => b.counter.usd - a.counter.usd || a.name.localeCompare(b.name));
    for (const { name, counter: one } of named("model"))
      models.set(name, addCounters(models.get(name) ?? noCounter, one));
    used.push({
      day,
      ...toRow(counter),
      models: named("model").map((row) => ({ model: row.name, ...toRow(row.counter) })),
      senders: named("sender").map((row) => ({ sender: row.name, ...toRow(row.counter) })),
      jobs: named("job").map((row) => ({ job: row.name, ...toRow(row.counter) })),
    });
  }
  const today = wanted[0] ?? "";
  return {
    timeZone: calendar.timeZone,
    days: used,
    models: [...models].map(([model, counter]) => ({ model, ...toRow(counter) })),
    total: toRow(total),
    budgets: [
      ...budgetsOf("day", limits, readCounter(records, counterId("day", today)), undefined, today),
      ...(details.get(today) ?? []).flatMap(({ of, name, counter }) =>
        of === "sender" || of === "job" ? budgetsOf(of, limits, counter, name, today) : [],
      ),
    ],
  };
}

function budgetsOf(
  scope: Scope,
  limits: BudgetLimits,
  counter: Counter,
  subject: string | undefined,
  period: string,
): readonly BudgetUsage[] {
  return toBudgetUsage({ scope, limits: limits[scope] ?? {}, used: amountOf(counter), subject, period });
}

/** One entry for each limit that is set. */
export function toBudgetUsage({ scope, limits, used, subject, period }: Measured): readonly BudgetUsage[] {
  return (["tokens", "usd", "turns"] as const).flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [{ scope, unit, limit, used: used[unit], subject, period }];
  });
}

function toRow({ usd, ...counter }: Counter): UsageRow {
  return { ...counter, costUsd: usd };
}
