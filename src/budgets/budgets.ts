import type { Count, Records } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import type { Usage } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import type { ModelUse } from "../events/model-use.js";
import type { Logger } from "../log.js";
import type { Calendar } from "./calendar.js";
import {
  type Account,
  amountOf,
  counterId,
  countsOf,
  parseCounterId,
  readCounter,
  tokensOf,
  useCounts,
} from "./counters.js";
import {
  type Amount,
  type BudgetLimits,
  counts,
  type Exceeded,
  findExceeded,
  type Limits,
  type Measured,
  nothing,
  plus,
} from "./limits.js";
import { reportUsage, type UsageReport, type UsageRow } from "./report.js";

/** What a session has used since it began, or since the last `/new`. */
export interface Conversation {
  readonly usage: Usage;
  readonly costUsd: number;
  readonly turns: number;
  /** Of answers that were cut, beyond what their providers had told. */
  readonly guessedTokens?: number | undefined;
  readonly guessedUsd?: number | undefined;
}

/** What a turn has used so far, by its providers' own figures. */
export interface TurnUsage {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

/** What a model call will need at least. */
export interface Need {
  readonly tokens: number;
  readonly usd: number;
}

/**
 * The budgets as one turn meets them. What it is let in with counts as used for everybody else until the counters hold
 * it, so that turns side by side do not pass a limit together. Disposed when the turn's last commit is done.
 */
export interface TurnBudget extends Disposable {
  /** Whether anything has to be known of a call before it is made. */
  readonly needsEstimate: boolean;
  /** Lets the turn in; or the first limit that leaves no room for it. To be called once, before all else. */
  begin(): Exceeded | undefined;
  /** Lets a model call in; or the first limit that leaves no room for it. */
  admit(need: Need, turn: TurnUsage): Exceeded | undefined;
  /** What goes into the counters together with these events. */
  counts(drafts: readonly EventDraft[]): readonly Count[];
  /** The same for an answer that was cut. */
  countsOfCut(use: ModelUse): readonly Count[];
}

export interface TurnAccount {
  readonly turnId: string;
  readonly sender: string | undefined;
  readonly job: string | undefined;
  /** A sub-agent's: it has an upper bound of its own. */
  readonly isTask?: boolean | undefined;
  readonly conversation: Conversation;
}

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
  /** Jobs with limits of their own, in the place of `limits.job`. */
  readonly jobs?: Readonly<Record<string, Limits>>;
  readonly records: Pick<Records, "get" | "list" | "delete">;
  readonly calendar: Calendar;
  readonly log: Logger;
  readonly now?: () => number;
}

const nobody: Account = { sender: undefined, job: undefined };
const oneToken: Amount = { tokens: 1, usd: 0, turns: 0 };

/** Who used what in detail is kept for so many days, the days themselves for more than a year. */
const detailDays = 32;
const keptDays = 400;

/**
 * Counts what is used and refuses what would go beyond. The counters are the engine's records, changed in the same
 * transaction as the events that they count: a crash neither loses nor repeats anything.
 */
export function createBudgets({
  records,
  calendar,
  log,
  now = Date.now,
  jobs = {},
  ...options
}: BudgetsOptions): Budgets {
  const limits = onlyBounded(options.limits);
  /** What turns were let in with and is not yet counted, by counter. */
  const held = new Map<string, Amount>();
  let prunedOn = "";

  /** Returns the undo, which may be called again. */
  const hold = (ids: readonly string[], amount: Amount): (() => void) => {
    for (const id of ids) held.set(id, plus(held.get(id) ?? nothing, amount));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const id of ids) {
        const left = minus(held.get(id) ?? nothing, amount);
        if (left.tokens + left.turns > 0) held.set(id, left);
        else held.delete(id);
      }
    };
  };

  const daily = (day: string, { sender, job }: Account): readonly Daily[] => {
    const measured = (scope: "sender" | "job" | "day", name?: string): readonly Daily[] => {
      const own = scope === "job" && name !== undefined && Object.hasOwn(jobs, name) ? jobs[name] : undefined;
      const bounds = own ?? limits[scope];
      if (bounds === undefined || (scope !== "day" && name === undefined)) return [];
      const id = counterId(scope, day, name);
      const used = plus(amountOf(readCounter(records, id)), held.get(id) ?? nothing);
      return [{ scope, limits: bounds, used, subject: name, period: day, id }];
    };
    return [...measured("job", job), ...measured("sender", sender), ...measured("day")];
  };

  const ofSession = (conversation: Conversation): readonly Measured[] =>
    limits.session === undefined
      ? []
      : [{ scope: "session", limits: limits.session, used: amountOfConversation(conversation) }];

  const prune = (day: string): void => {
    if (prunedOn === day) return;
    prunedOn = day;
    const [oldest = "", oldestDetail = ""] = [keptDays, detailDays].map((days) =>
      calendar.daysBefore(now(), days).at(-1),
    );
    const old = records.list().filter(({ id }) => {
      const counter = parseCounterId(id);
      const isDetail = counter?.of === "sender" || counter?.of === "job";
      return counter !== undefined && counter.day < (isDetail ? oldestDetail : oldest);
    });
    Promise.all(old.map(({ id }) => records.delete(id))).catch((error: unknown) => {
      log.warn(`Old counters of usage could not be removed: ${messageOf(error)}`);
    });
  };

  return {
    limits,
    calendar,
    report: (days) => reportUsage({ records, calendar, limits, now: now() }, days),
    today(sender) {
      const day = calendar.dayOf(now());
      const { usd, ...counter } = readCounter(records, counterId(sender === undefined ? "day" : "sender", day, sender));
      return { ...counter, costUsd: usd };
    },
    measure: (account, conversation) => [
      ...(conversation === undefined ? [] : ofSession(conversation)),
      ...daily(calendar.dayOf(now()), account),
    ],
    background: {
      mayAsk: () => findExceeded(daily(calendar.dayOf(now()), nobody).map(withoutTurns), oneToken) === undefined,
      countsOf: (use) => useCounts(use, calendar.dayOf(now()), nobody),
    },
    open({ turnId, conversation, isTask = false, ...account }) {
      const day = (): string => calendar.dayOf(now());
      prune(day());
      const others = (): readonly Measured[] => [...ofSession(conversation), ...daily(day(), account)];
      const letIn = (amount: Amount): (() => void) =>
        hold(
          daily(day(), account).map(({ id }) => id),
          amount,
        );
      let leaveTurn = (): void => {};
      let leaveCall = (): void => {};
      let guess: Amount = nothing;
      const ofTurn = ({ usage, costUsd }: TurnUsage): readonly Measured[] => {
        const used = plus({ tokens: tokensOf(usage), usd: costUsd ?? 0, turns: 0 }, guess);
        const measured = (scope: "turn" | "spawn"): readonly Measured[] =>
          limits[scope] === undefined ? [] : [{ scope, limits: limits[scope], used, period: turnId }];
        return [...measured("turn"), ...(isTask ? measured("spawn") : [])];
      };
      return {
        needsEstimate: counts({ ...limits, job: jobs[account.job ?? ""] ?? limits.job }, "tokens", "usd"),
        begin() {
          const place = { ...nothing, turns: 1 };
          const exceeded = findExceeded(others(), place);
          if (exceeded === undefined) leaveTurn = letIn(place);
          return exceeded;
        },
        admit(need, turn) {
          leaveCall();
          const amount = { ...need, turns: 0 };
          // The turn itself has been let in already.
          const exceeded = findExceeded([...ofTurn(turn), ...others().map(withoutTurns)], amount);
          if (exceeded === undefined) leaveCall = letIn(amount);
          return exceeded;
        },
        counts(drafts) {
          if (drafts.some(({ type }) => type === "user_message")) leaveTurn();
          if (drafts.some(({ type }) => type === "assistant_message")) leaveCall();
          return countsOf(drafts, day(), account);
        },
        countsOfCut(use) {
          guess = plus(guess, { tokens: use.guess?.tokens ?? 0, usd: use.guess?.cost_usd ?? 0, turns: 0 });
          return useCounts(use, day(), account);
        },
        [Symbol.dispose]() {
          leaveTurn();
          leaveCall();
        },
      };
    },
  };
}

/** What counts against `budgets.session`. */
function amountOfConversation(conversation: Conversation): Amount {
  const { usage, costUsd, turns, guessedTokens = 0, guessedUsd = 0 } = conversation;
  return { tokens: tokensOf(usage) + guessedTokens, usd: costUsd + guessedUsd, turns };
}

/** Without the scopes that have no limit. */
function onlyBounded(limits: BudgetLimits): BudgetLimits {
  return Object.fromEntries(
    Object.entries(limits).filter(([, bounds]) => Object.values(bounds ?? {}).some((limit) => limit !== undefined)),
  );
}

/** A budget for a day, and the record that counts it. */
interface Daily extends Measured {
  readonly id: string;
}

function withoutTurns(measured: Measured): Measured {
  return { ...measured, limits: { ...measured.limits, turns: undefined } };
}

function minus(a: Amount, b: Amount): Amount {
  return plus(a, { tokens: -b.tokens, usd: -b.usd, turns: -b.turns });
}
