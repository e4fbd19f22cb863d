import { isRecord } from "../../../client/frames.js";
import { type JsonObject, recordsIn, textIn } from "../../gateway/api.js";

/** What was used in one day, or by one of those who used it. */
export interface Row {
  readonly name: string;
  readonly turns: number;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
  /** Answers whose price nobody knows. */
  readonly unpriced: number;
  readonly guessedTokens: number;
  readonly guessedCost: number;
}

export interface Budget {
  readonly scope: string;
  readonly subject: string;
  readonly unit: string;
  readonly limit: number;
  readonly used: number;
  readonly startsAgainAt: string;
}

export interface Report {
  readonly timeZone: string;
  /** Oldest first, without a gap. */
  readonly days: readonly Row[];
  readonly models: readonly Row[];
  readonly channels: readonly Row[];
  readonly senders: readonly Row[];
  readonly jobs: readonly Row[];
  readonly total: Row;
  readonly budgets: readonly Budget[];
}

/** What `GET /api/usage` said. */
export function toReport(body: JsonObject, days: number): Report {
  const used = recordsIn(body.days).map((row) => toRow(row, textIn(row.day)));
  const rows = (list: unknown, key: string): readonly Row[] =>
    recordsIn(list).map((row) => toRow(row, textIn(row[key])));
  const timeZone = textIn(body.timeZone);
  const senders = rows(body.channels, "channel");
  const jobs = rows(body.jobs, "job");
  const total = toRow(isRecord(body.total) ? body.total : {}, "");
  return {
    timeZone,
    days: daysUpTo(dayIn(timeZone, new Date()), days).map(
      (day) => used.find(({ name }) => name === day) ?? { ...nothing, name: day },
    ),
    models: rows(body.models, "model"),
    channels: withRest(senders, jobs, total),
    senders: rows(body.senders, "sender"),
    jobs,
    total,
    budgets: recordsIn(body.budgets).map((budget) => ({
      scope: textIn(budget.scope),
      subject: textIn(budget.subject),
      unit: textIn(budget.unit),
      limit: numberIn(budget.limit),
      used: numberIn(budget.used),
      startsAgainAt: textIn(budget.startsAgainAt),
    })),
  };
}

const nothing: Row = {
  name: "",
  turns: 0,
  calls: 0,
  tokens: 0,
  cost: 0,
  unpriced: 0,
  guessedTokens: 0,
  guessedCost: 0,
};

/** The name of what no channel has asked for, in the list of channels. */
export const jobsName = "(jobs)";
export const restName = "(rest)";

function withRest(channels: readonly Row[], jobs: readonly Row[], total: Row): readonly Row[] {
  const scheduled = jobs.reduce((sum, row) => combined(sum, row, 1), { ...nothing, name: jobsName });
  const known = [...channels, ...(scheduled.calls + scheduled.turns === 0 ? [] : [scheduled])];
  const rest = known.reduce((left, row) => combined(left, row, -1), { ...total, name: restName });
  return rest.calls > 0 ? [...known, rest] : known;
}

function combined(a: Row, b: Row, sign: 1 | -1): Row {
  return {
    name: a.name,
    turns: a.turns + sign * b.turns,
    calls: a.calls + sign * b.calls,
    tokens: a.tokens + sign * b.tokens,
    // What is left of a subtraction of money may be a hair below nothing.
    cost: Math.max(0, a.cost + sign * b.cost),
    unpriced: a.unpriced + sign * b.unpriced,
    guessedTokens: a.guessedTokens + sign * b.guessedTokens,
    guessedCost: Math.max(0, a.guessedCost + sign * b.guessedCost),
  };
}

function toRow(row: JsonObject, name: string): Row {
  const usage = isRecord(row.usage) ? row.usage : {};
  return {
    name,
    turns: numberIn(row.turns),
    calls: numberIn(row.calls),
    tokens: Object.values(usage).reduce((sum: number, tokens) => sum + numberIn(tokens), 0),
    cost: numberIn(row.costUsd),
    unpriced: numberIn(row.unpricedCalls),
    guessedTokens: numberIn(row.guessedTokens),
    guessedCost: numberIn(row.guessedUsd),
  };
}

/** `2026-11-23`, where the gateway's days are counted. */
function dayIn(timeZone: string, at: Date): string {
  const parts = new Intl.DateTimeFormat("en-CA", {
    timeZone: timeZone === "" ? undefined : timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).formatToParts(at);
  return ["year", "month", "day"].map((part) => parts.find(({ type }) => type === part)?.value).join("-");
}

function daysUpTo(last: string, count: number): readonly string[] {
  const noon = Date.parse(`${last}T12:00:00Z`);
  return Array.from({ length: count }, (_, at) =>
    new Date(noon - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10),
  );
}

export function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
