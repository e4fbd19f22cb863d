import type { Records } from "../engine/engine.js";
import type { Usage } from "../events/content.js";
import { channelOf } from "../events/session-key.js";
import { type Calendar, nextDayAt } from "./calendar.js";
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
import type { BudgetLimits, Limits, Measured, Scope, Unit } from "./limits.js";

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
  /** The last {@link detailDays} only. */
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
  /** When it starts again, ISO 8601. */
  readonly startsAgainAt?: string | undefined;
}

export interface UsageReport {
  /** Whose days these are. */
  readonly timeZone: string;
  /** The newest first; days without any use are left out. */
  readonly days: readonly DayUsage[];
  readonly models: readonly (UsageRow & { readonly model: string })[];
  /** What people asked for, by the channel where they did. */
  readonly channels: readonly (UsageRow & { readonly channel: string })[];
  readonly senders: readonly (UsageRow & { readonly sender: string })[];
  readonly jobs: readonly (UsageRow & { readonly job: string })[];
  /** All of it, with what nobody asked for. */
  readonly total: UsageRow;
  /** Of today. */
  readonly budgets: readonly BudgetUsage[];
}

export interface ReportSources {
  readonly records: Pick<Records, "get" | "list">;
  readonly calendar: Calendar;
  readonly limits: BudgetLimits;
  /** Some jobs have limits of their own. */
  readonly limitsOfJob: (job: string) => Limits | undefined;
  readonly now: number;
}

/** Who used what in detail is kept for so many days: a whole season can be looked at. */
export const detailDays = 92;

type Kind = "model" | "channel" | "sender" | "job";

/** What was used by each of a kind, by name. */
type Sums = Readonly<Record<Kind, Map<string, Counter>>>;

/** What the last days have used, today included. */
export function reportUsage(sources: ReportSources, days: number): UsageReport {
  const { records, calendar, now } = sources;
  const wanted = calendar.daysBefore(now, days);
  const details = detailsOf(records, new Set(wanted));
  const all = noSums();
  let total = noCounter;
  const used: DayUsage[] = [];
  for (const day of wanted) {
    const counter = readCounter(records, counterId("day", day));
    if (counter.turns + counter.calls + counter.guessedTokens === 0) continue;
    total = addCounters(total, counter);
    const ofDay = details.get(day) ?? noSums();
    for (const kind of ["model", "channel", "sender", "job"] as const)
      for (const [name, one] of ofDay[kind]) add(all[kind], name, one);
    used.push({
      day,
      ...toRow(counter),
      models: rowsOf("model", ofDay),
      senders: rowsOf("sender", ofDay),
      jobs: rowsOf("job", ofDay),
    });
  }
  return {
    timeZone: calendar.timeZone,
    days: used,
    models: rowsOf("model", all),
    channels: rowsOf("channel", all),
    senders: rowsOf("sender", all),
    jobs: rowsOf("job", all),
    total: toRow(total),
    budgets: budgetsOf(sources, wanted[0] ?? "", details.get(wanted[0] ?? "") ?? noSums()),
  };
}

/** By day, what each has used. A channel has used what its people have. */
function detailsOf(records: Pick<Records, "list">, wanted: ReadonlySet<string>): ReadonlyMap<string, Sums> {
  const details = new Map<string, Sums>();
  for (const { id, value } of records.list()) {
    const { of, day, name } = parseCounterId(id) ?? { of: "", day: "", name: "" };
    if (name === "" || !wanted.has(day)) continue;
    if (of !== "model" && of !== "sender" && of !== "job") continue;
    const ofDay = details.get(day) ?? noSums();
    details.set(day, ofDay);
    add(ofDay[of], name, toCounter(value));
    if (of === "sender") add(ofDay.channel, channelOf(name), toCounter(value));
  }
  return details;
}

function noSums(): Sums {
  return { model: new Map(), channel: new Map(), sender: new Map(), job: new Map() };
}

function add(sums: Map<string, Counter>, name: string, counter: Counter): void {
  sums.set(name, addCounters(sums.get(name) ?? noCounter, counter));
}

/** Who has cost the most comes first. */
function rowsOf<K extends Kind>(kind: K, sums: Sums): (UsageRow & Readonly<Record<K, string>>)[] {
  return (
    [...sums[kind]]
      .sort(([a, one], [b, other]) => other.usd - one.usd || a.localeCompare(b))
      // A computed key is not known to the compiler as the one that it is.
      .map(([name, counter]) => ({ [kind]: name, ...toRow(counter) }) as UsageRow & Readonly<Record<K, string>>)
  );
}

/** The budgets of today. */
function budgetsOf(
  { records, calendar, limits, limitsOfJob, now }: ReportSources,
  today: string,
  { sender: senders, job: jobs }: Sums,
): readonly BudgetUsage[] {
  const startsAgainAt = new Date(nextDayAt(calendar, now)).toISOString();
  const measured = (
    scope: Scope,
    bounds: Limits | undefined,
    counter: Counter,
    subject?: string,
  ): readonly BudgetUsage[] =>
    toBudgetUsage({ scope, limits: bounds ?? {}, used: amountOf(counter), subject, period: today }).map((one) => ({
      ...one,
      startsAgainAt,
    }));
  return [
    ...measured("day", limits.day, readCounter(records, counterId("day", today))),
    ...[...senders].flatMap(([name, counter]) => measured("sender", limits.sender, counter, name)),
    ...[...jobs].flatMap(([name, counter]) => measured("job", limitsOfJob(name), counter, name)),
  ];
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
