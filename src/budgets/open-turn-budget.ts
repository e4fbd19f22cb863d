import type { Count } from "../engine/engine.js";
import type { EventDraft } from "../events/event.js";
import type { ModelUse } from "../events/model-use.js";
import { countsOf, tokensOf, useCounts } from "./counters.js";
import { type DailyBudgets, withoutTurns } from "./daily.js";
import {
  type Amount,
  type BudgetLimits,
  counts,
  type Exceeded,
  findExceeded,
  type Measured,
  nothing,
  plus,
} from "./limits.js";
import type { Conversation, Need, TurnAccount, TurnBudget, TurnUsage } from "./turn-budget.js";

/** The budgets of one turn that runs. */
export class OpenTurnBudget implements TurnBudget {
  readonly needsEstimate: boolean;
  readonly #limits: BudgetLimits;
  readonly #daily: DailyBudgets;
  readonly #account: TurnAccount;
  /** Of answers that were cut, beyond what their providers had told. */
  #guess: Amount = nothing;
  #releaseTurn = (): void => {};
  #giveBack = (): void => {};
  #releaseCall = (): void => {};

  constructor(limits: BudgetLimits, daily: DailyBudgets, account: TurnAccount) {
    this.#limits = limits;
    this.#daily = daily;
    this.#account = account;
    this.needsEstimate = counts({ ...limits, job: daily.limitsOfJob(account.job) }, "tokens", "usd");
  }

  async begin(messageId: string): Promise<Exceeded | undefined> {
    const amount = { ...nothing, turns: 1 };
    const exceeded = findExceeded(this.#measureOthers(), amount);
    if (exceeded !== undefined) return exceeded;
    const release = this.#daily.hold(this.#account, amount);
    this.#releaseTurn = release;
    const letIn = await this.#daily.letIn(this.#account, messageId);
    this.#giveBack = letIn.giveBack;
    if (letIn.exceeded !== undefined) release();
    return letIn.exceeded;
  }

  admit(need: Need, turn: TurnUsage): Exceeded | undefined {
    this.#releaseCall();
    const amount = { ...need, turns: 0 };
    // The turn itself has been let in already.
    const measured = [...this.#measureTurn(turn), ...this.#measureOthers().map(withoutTurns)];
    const exceeded = findExceeded(measured, amount);
    if (exceeded === undefined) this.#releaseCall = this.#daily.hold(this.#account, amount);
    return exceeded;
  }

  counts(drafts: readonly EventDraft[]): readonly Count[] {
    if (drafts.some(({ type }) => type === "user_message")) {
      this.#releaseTurn();
      this.#giveBack = () => {};
    }
    if (drafts.some(({ type }) => type === "assistant_message")) this.#releaseCall();
    return countsOf(drafts, this.#daily.today(), this.#account);
  }

  countsOfCut(use: ModelUse): readonly Count[] {
    this.#guess = plus(this.#guess, { tokens: use.guess?.tokens ?? 0, usd: use.guess?.cost_usd ?? 0, turns: 0 });
    return useCounts(use, this.#daily.today(), this.#account);
  }

  [Symbol.dispose](): void {
    this.#giveBack();
    this.#releaseTurn();
    this.#releaseCall();
  }

  /** What the turn shares with others. */
  #measureOthers(): readonly Measured[] {
    return [...measureSession(this.#limits, this.#account.conversation), ...this.#daily.measure(this.#account)];
  }

  #measureTurn({ usage, costUsd }: TurnUsage): readonly Measured[] {
    const used = plus({ tokens: tokensOf(usage), usd: costUsd ?? 0, turns: 0 }, this.#guess);
    const measured = (scope: "turn" | "spawn"): readonly Measured[] => {
      const limits = this.#limits[scope];
      return limits === undefined ? [] : [{ scope, limits, used, period: this.#account.turnId }];
    };
    return [...measured("turn"), ...(this.#account.isTask === true ? measured("spawn") : [])];
  }
}

/** What counts against `budgets.session`. */
export function measureSession(limits: BudgetLimits, conversation: Conversation): readonly Measured[] {
  if (limits.session === undefined) return [];
  const { usage, costUsd, turns, guessedTokens = 0, guessedUsd = 0 } = conversation;
  const used = { tokens: tokensOf(usage) + guessedTokens, usd: costUsd + guessedUsd, turns };
  return [{ scope: "session", limits: limits.session, used }];
}
