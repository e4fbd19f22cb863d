import type { Count, Records } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import type { ModelUse } from "../events/model-use.js";
import type { Logger } from "../log.js";
import type { Calendar } from "./calendar.js";
import { type Account, counterId, parseCounterId, readCounter, useCounts } from "./counters.js";
import { DailyBudgets, withoutTurns } from "./daily.js";
import { type Amount, type BudgetLimits, findExceeded, type Limits, type Measured } from "./limits.js";
import { measureSession, OpenTurnBudget } from "./open-turn-budget.js";
import { detailDays, reportUsage, type UsageReport, type UsageRow } from "./report.js";
import type { SharedTurns } from "./shared-turns.js";
import type { Conversation, TurnAccount, TurnBudget } from "./turn-budget.js";

/** For what a model is asked without anybody's wish: it counts for the day alone. */
export interface BackgroundBudget {
  /** False once a budget of the day leaves no room for more. */
  mayAsk(): boolean;
  /** What goes into the counters. */
  countsOf(use: ModelUse): readonly Count[];
}

export interface Budgets {
  readonly limits: BudgetLimits;
  readonly calendar: Calendar;
  open(account: TurnAccount): TurnBudget;
  readonly background: BackgroundBudget;
  /** What was used today: by this sender, or by all. */
  today(sender: string | undefined): UsageRow;
  /** What the last days have used. */
  report(days: number): UsageReport;
  /** The budgets that this account meets today, with what was used of each; without `turn`. */
  measure(account: Account, conversation: Conversation | undefined): readonly Measured[];
}

export interface BudgetsOptions {
  readonly limits: BudgetLimits;
  /** Jobs with limits of their own, instead of `limits.job`. */
  readonly jobs?: Readonly<Record<string, Limits>>;
  readonly records: Pick<Records, "get" | "list" | "delete">;
  /** Where several nodes let turns in. */
  readonly shared?: SharedTurns | undefined;
  readonly calendar: Calendar;
  readonly log: Logger;
  readonly now?: () => number;
}

const nobody: Account = { sender: undefined, job: undefined };
const oneToken: Amount = { tokens: 1, usd: 0, turns: 0 };

/** The days themselves are kept for more than a year. */
const keptDays = 400;

/**
 * Counts what is used and refuses what would go beyond. The counters are the engine's records, changed in the same
 * transaction as the events that they count: a crash neither loses nor repeats anything.
 */
export function createBudgets(options: BudgetsOptions): Budgets {
  return new CountedBudgets(options);
}

class CountedBudgets implements Budgets {
  readonly limits: BudgetLimits;
  readonly calendar: Calendar;
  readonly background: BackgroundBudget;
  readonly #records: BudgetsOptions["records"];
  readonly #shared: SharedTurns | undefined;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #daily: DailyBudgets;
  #prunedOn = "";

  constructor({ records, shared, calendar, log, now = Date.now, jobs = {}, ...options }: BudgetsOptions) {
    this.limits = onlyBounded(options.limits);
    this.calendar = calendar;
    this.#records = records;
    this.#shared = shared;
    this.#log = log;
    this.#now = now;
    const today = (): string => calendar.dayOf(now());
    this.#daily = new DailyBudgets(this.limits, jobs, records, today, shared);
    this.background = {
      mayAsk: () => findExceeded(this.#daily.measure(nobody).map(withoutTurns), oneToken) === undefined,
      countsOf: (use) => useCounts(use, today(), nobody),
    };
  }

  report(days: number): UsageReport {
    const { calendar, limits } = this;
    const limitsOfJob = (job: string): Limits | undefined => this.#daily.limitsOfJob(job);
    return reportUsage({ records: this.#records, calendar, limits, limitsOfJob, now: this.#now() }, days);
  }

  today(sender: string | undefined): UsageRow {
    const id = counterId(sender === undefined ? "day" : "sender", this.#daily.today(), sender);
    const { usd, ...counter } = readCounter(this.#records, id);
    return { ...counter, costUsd: usd };
  }

  measure(account: Account, conversation: Conversation | undefined): readonly Measured[] {
    return [
      ...(conversation === undefined ? [] : measureSession(this.limits, conversation)),
      ...this.#daily.measure(account),
    ];
  }

  open(account: TurnAccount): TurnBudget {
    this.#prune(this.#daily.today());
    return new OpenTurnBudget(this.limits, this.#daily, account);
  }

  /** Removes counters that nobody asks for any more, once a day. */
  #prune(day: string): void {
    if (this.#prunedOn === day) return;
    this.#prunedOn = day;
    const [oldest = "", oldestDetail = ""] = [keptDays, detailDays].map((days) =>
      this.calendar.daysBefore(this.#now(), days).at(-1),
    );
    const old = this.#records.list().filter(({ id }) => {
      const counter = parseCounterId(id);
      const isDetail = counter?.of === "sender" || counter?.of === "job";
      return counter !== undefined && counter.day < (isDetail ? oldestDetail : oldest);
    });
    // A clock may be behind, and zones differ.
    const shared = this.#shared?.prune(this.calendar.daysBefore(this.#now(), 3).at(-1) ?? "");
    Promise.all([shared, ...old.map(({ id }) => this.#records.delete(id))]).catch((error: unknown) => {
      this.#log.warn(`Old counters of usage could not be removed: ${messageOf(error)}`);
    });
  }
}

/** Without the scopes that have no limit. */
function onlyBounded(limits: BudgetLimits): BudgetLimits {
  return Object.fromEntries(
    Object.entries(limits).filter(([, bounds]) => Object.values(bounds ?? {}).some((limit) => limit !== undefined)),
  );
}
