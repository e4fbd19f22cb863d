import type { Records } from "../engine/engine.js";
import { type Account, amountOf, counterId, readCounter } from "./counters.js";
import { type Amount, type BudgetLimits, type Limits, type Measured, nothing, plus } from "./limits.js";

/** A budget for a day, and the record that counts it. */
interface Daily extends Measured {
  readonly id: string;
}

/** The budgets that last a day: of all, of a sender, of a job. */
export class DailyBudgets {
  readonly #limits: BudgetLimits;
  /** Of jobs that have limits of their own. */
  readonly #jobs: Readonly<Record<string, Limits>>;
  readonly #records: Records;
  /** The day, as counters name it. */
  readonly today: () => string;
  /** What turns were let in with and is not yet counted, by counter. */
  readonly #held = new Map<string, Amount>();

  constructor(limits: BudgetLimits, jobs: Readonly<Record<string, Limits>>, records: Records, today: () => string) {
    this.#limits = limits;
    this.#jobs = jobs;
    this.#records = records;
    this.today = today;
  }

  /** The budgets that this account meets today, with what was used of each. */
  measure({ sender, job }: Account): readonly Daily[] {
    const day = this.today();
    return [
      ...this.#measureOne("job", day, job),
      ...this.#measureOne("sender", day, sender),
      ...this.#measureOne("day", day),
    ];
  }

  limitsOfJob(job: string | undefined): Limits | undefined {
    return this.#ownLimits(job) ?? this.#limits.job;
  }

  /** Counts this as used by the account until the undo is called, which may be called again. */
  hold(account: Account, amount: Amount): () => void {
    const ids = this.measure(account).map(({ id }) => id);
    for (const id of ids) this.#held.set(id, plus(this.#held.get(id) ?? nothing, amount));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      for (const id of ids) {
        const left = minus(this.#held.get(id) ?? nothing, amount);
        if (left.tokens + left.turns > 0) this.#held.set(id, left);
        else this.#held.delete(id);
      }
    };
  }

  #measureOne(scope: "sender" | "job" | "day", day: string, name?: string): readonly Daily[] {
    const bounds = scope === "job" ? this.limitsOfJob(name) : this.#limits[scope];
    if (bounds === undefined || (scope !== "day" && name === undefined)) return [];
    const id = counterId(scope, day, name);
    const used = plus(amountOf(readCounter(this.#records, id)), this.#held.get(id) ?? nothing);
    return [{ scope, limits: bounds, used, subject: name, period: day, id }];
  }

  #ownLimits(job: string | undefined): Limits | undefined {
    return job !== undefined && Object.hasOwn(this.#jobs, job) ? this.#jobs[job] : undefined;
  }
}

export function withoutTurns(measured: Measured): Measured {
  return { ...measured, limits: { ...measured.limits, turns: undefined } };
}

function minus(a: Amount, b: Amount): Amount {
  return plus(a, { tokens: -b.tokens, usd: -b.usd, turns: -b.turns });
}
