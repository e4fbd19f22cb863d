import type { Records } from "../engine/engine.js";
import { type Account, amountOf, counterId, readCounter } from "./counters.js";
import { type Amount, type BudgetLimits, type Exceeded, type Limits, type Measured, nothing, plus } from "./limits.js";
import type { SharedTurns } from "./shared-turns.js";

/** A budget for a day, and the record that counts it. */
interface Daily extends Measured {
  readonly id: string;
}

/** Whether all nodes have let a turn in. */
interface LetIn {
  readonly exceeded?: Exceeded;
  /** No turn has begun. */
  giveBack(): void;
}

const alone: LetIn = { giveBack: () => {} };

/** The budgets that last a day: of all, of a sender, of a job. */
export class DailyBudgets {
  readonly #limits: BudgetLimits;
  /** Of jobs that have limits of their own. */
  readonly #jobs: Readonly<Record<string, Limits>>;
  readonly #records: Pick<Records, "get">;
  /** Where other nodes let turns in as well. */
  readonly #shared: SharedTurns | undefined;
  /** The day, as counters name it. */
  readonly today: () => string;
  /** What turns were let in with and is not yet counted, by counter. */
  readonly #held = new Map<string, Amount>();

  constructor(
    limits: BudgetLimits,
    jobs: Readonly<Record<string, Limits>>,
    records: Pick<Records, "get">,
    today: () => string,
    shared?: SharedTurns,
  ) {
    this.#limits = limits;
    this.#jobs = jobs;
    this.#records = records;
    this.today = today;
    this.#shared = shared;
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

  /** Lets a turn in on all nodes, or in none of its budgets: then the first that leaves no room for it. */
  async letIn(account: Account, messageId: string): Promise<LetIn> {
    const shared = this.#shared;
    if (shared === undefined) return alone;
    const ids: string[] = [];
    const giveBack = (): void => shared.giveBack(ids.splice(0), messageId);
    for (const { id, scope, limits, subject, period } of this.measure(account)) {
      const { turns: limit } = limits;
      if (limit === undefined) continue;
      const { turns: counted } = readCounter(this.#records, id);
      if (await shared.letIn(id, messageId, limit, counted)) ids.push(id);
      else {
        giveBack();
        return { ...alone, exceeded: { scope, unit: "turns", limit, used: limit, needed: 1, subject, period } };
      }
    }
    return { giveBack };
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
