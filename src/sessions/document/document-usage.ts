import type { EventsOf } from "../../events/bus/system-bus.js";
import type { Payload } from "../../events/catalogue.js";
import { addUsage, noUsage, type Usage } from "../../events/content.js";
import type { StoredEvent } from "../../events/event.js";
import { type Guess, type ModelUse, modelUseOf } from "../../events/model-use.js";
import type { SessionMetadata } from "../session.js";

/** What a session's turns have used, as its document shows it. */
export class DocumentUsage {
  #usage: Usage = noUsage;
  #costUsd: number | undefined;
  #unpricedCalls = 0;
  /** Of answers that were cut, beyond what their providers had told. */
  #guessedTokens = 0;
  #guessedUsd = 0;
  /** What the answers of the turn that runs have used so far. */
  #turnUsage: Usage = noUsage;
  #turnCostUsd: number | undefined;

  get folded() {
    return {
      usage: this.#usage,
      costUsd: this.#costUsd,
      unpricedCalls: this.#unpricedCalls,
      guessedTokens: this.#guessedTokens,
      guessedUsd: this.#guessedUsd,
      turnUsage: this.#turnUsage,
      turnCostUsd: this.#turnCostUsd,
    };
  }

  restore(state: DocumentUsage["folded"]): void {
    this.#usage = state.usage;
    this.#costUsd = state.costUsd;
    this.#unpricedCalls = state.unpricedCalls;
    this.#guessedTokens = state.guessedTokens;
    this.#guessedUsd = state.guessedUsd;
    this.#turnUsage = state.turnUsage;
    this.#turnCostUsd = state.turnCostUsd;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** An answer of the turn that runs. What the gateway says by itself costs the turn nothing. */
  addAnswer({ usage, cost_usd: costUsd, guess }: Payload<"assistant_message">, isModels: boolean): void {
    this.#addGuess(guess);
    if (costUsd === undefined && usage.input_tokens > 0) this.#unpricedCalls += 1;
    if (isModels) this.#addToTurn(usage, costUsd);
  }

  /** What a model was asked besides the turn's own answers. */
  addUse(event: StoredEvent): void {
    const use = modelUseOf(event);
    if (use === undefined) return;
    this.#add(use.usage, use.cost_usd);
    if (use.cost_usd === undefined) this.#unpricedCalls += 1;
  }

  endTurn({ type, payload }: TurnEnded): void {
    this.#discard(payload.discarded);
    if (type === "turn_execution_complete") this.#add(payload.usage, payload.cost_usd);
    else this.#add(type === "turn_execution_failed" ? payload.usage : this.#turnUsage, this.#turnCostUsd);
    this.#turnUsage = noUsage;
    this.#turnCostUsd = undefined;
  }

  toMetadata(): Pick<SessionMetadata, "usage" | "costUsd" | "unpricedCalls" | "guessedTokens" | "guessedUsd"> {
    return {
      usage: this.#usage,
      ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
      ...(this.#unpricedCalls === 0 ? {} : { unpricedCalls: this.#unpricedCalls }),
      ...(this.#guessedTokens === 0 ? {} : { guessedTokens: this.#guessedTokens, guessedUsd: this.#guessedUsd }),
    };
  }

  #add(usage: Usage, costUsd: number | undefined): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#costUsd = sum(this.#costUsd, costUsd);
  }

  #addToTurn(usage: Usage, costUsd: number | undefined): void {
    this.#turnUsage = addUsage(this.#turnUsage, usage);
    this.#turnCostUsd = sum(this.#turnCostUsd, costUsd);
  }

  /** Answers that were given up leave no message behind, only what they have used. */
  #discard(uses: readonly ModelUse[] = []): void {
    for (const { usage, cost_usd: costUsd, guess } of uses) {
      this.#addGuess(guess);
      this.#addToTurn(usage, costUsd);
      if (costUsd === undefined && usage.input_tokens > 0) this.#unpricedCalls += 1;
    }
  }

  #addGuess(guess: Guess | undefined): void {
    this.#guessedTokens += guess?.tokens ?? 0;
    this.#guessedUsd += guess?.cost_usd ?? 0;
  }
}

export type TurnEnded = EventsOf<"turn_execution_complete" | "turn_execution_failed" | "turn_execution_cancelled">;

function sum(known: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? known : (known ?? 0) + more;
}
