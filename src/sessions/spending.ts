import { addUsage, noUsage, type Usage } from "../events/content.js";
import type { StoredEvent } from "../events/event.js";
import { type ModelUse, modelUsesOf } from "../events/model-use.js";

/**
 * What a conversation has used since it began, which `/new` does again: a fold over the session's events. What its
 * sub-agents have used is among it from their ends on.
 */
export class Spending {
  #usage: Usage = noUsage;
  #costUsd = 0;
  #calls = 0;
  #unpricedCalls = 0;
  #turns = 0;
  #guessedTokens = 0;
  #guessedUsd = 0;
  #reported = new Set<string>();

  get folded() {
    return {
      usage: this.#usage,
      costUsd: this.#costUsd,
      calls: this.#calls,
      unpricedCalls: this.#unpricedCalls,
      turns: this.#turns,
      guessedTokens: this.#guessedTokens,
      guessedUsd: this.#guessedUsd,
      reported: this.#reported,
    };
  }

  restore(state: Spending["folded"]): void {
    this.#usage = state.usage;
    this.#costUsd = state.costUsd;
    this.#calls = state.calls;
    this.#unpricedCalls = state.unpricedCalls;
    this.#turns = state.turns;
    this.#guessedTokens = state.guessedTokens;
    this.#guessedUsd = state.guessedUsd;
    this.#reported = state.reported;
  }

  apply(event: StoredEvent): void {
    for (const use of modelUsesOf(event)) this.#add(use);
    switch (event.type) {
      case "user_message":
        if (event.payload.iteration === 1) this.#turns += 1;
        return;
      case "subagent_state_changed":
        this.#usage = addUsage(this.#usage, event.payload.usage ?? noUsage);
        this.#costUsd += event.payload.cost_usd ?? 0;
        return;
      case "budget_exceeded":
        // One chat hears about few budgets; the bound only guards the memory.
        if (this.#reported.size > 200) this.#reported.clear();
        this.#reported.add(budgetKey(event.payload));
        return;
      case "session_history_changed":
        if (event.payload.kind === "new" || event.payload.kind === "deletion") this.#begin();
        return;
      default:
        return;
    }
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Of the calls whose price is known. */
  get costUsd(): number {
    return this.#costUsd;
  }

  /** Answers, summaries and titles by models. */
  get calls(): number {
    return this.#calls;
  }

  get unpricedCalls(): number {
    return this.#unpricedCalls;
  }

  /** Of answers that were cut, beyond what their providers had told. */
  get guessedTokens(): number {
    return this.#guessedTokens;
  }

  get guessedUsd(): number {
    return this.#guessedUsd;
  }

  get turns(): number {
    return this.#turns;
  }

  /** True when this session has been told, in this period, that the budget is used up. */
  wasReported(budget: Parameters<typeof budgetKey>[0]): boolean {
    return this.#reported.has(budgetKey(budget));
  }

  #add({ usage, cost_usd: cost, guess }: ModelUse): void {
    this.#guessedTokens += guess?.tokens ?? 0;
    this.#guessedUsd += guess?.cost_usd ?? 0;
    if (guess !== undefined && Object.values(usage).every((tokens) => tokens === 0)) return;
    this.#usage = addUsage(this.#usage, usage);
    this.#costUsd += cost ?? 0;
    this.#calls += 1;
    if (cost === undefined) this.#unpricedCalls += 1;
  }

  #begin(): void {
    this.#usage = noUsage;
    this.#costUsd = 0;
    this.#calls = 0;
    this.#unpricedCalls = 0;
    this.#turns = 0;
    this.#guessedTokens = 0;
    this.#guessedUsd = 0;
    this.#reported.delete(budgetKey({ scope: "session" }));
  }
}

function budgetKey(budget: {
  readonly scope: string;
  readonly subject?: string | undefined;
  readonly period?: string | undefined;
}): string {
  return JSON.stringify([budget.scope, budget.subject, budget.period]);
}
