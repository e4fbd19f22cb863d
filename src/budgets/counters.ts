import type { Count, Records } from "../engine/engine.js";
import { addUsage, noUsage, type Usage } from "../events/content.js";
import type { EventDraft } from "../events/event.js";
import { type ModelUse, modelUseOf } from "../events/model-use.js";
import type { Amount } from "./limits.js";

/** The kind of the engine's records that hold what was used. */
export const usageKind = "usage";

/** What a record counts. */
export type CounterOf = "day" | "model" | "sender" | "job";

/** The numbers of one record. */
export interface Counter {
  readonly turns: number;
  readonly calls: number;
  /** Answers of models whose price nobody knows: their cost is in no sum. */
  readonly unpricedCalls: number;
  readonly usage: Usage;
  readonly usd: number;
  /** Guessed for answers that were cut off, which no provider tells the usage of. */
  readonly guessedTokens: number;
  readonly guessedUsd: number;
}

export const noCounter: Counter = {
  turns: 0,
  calls: 0,
  unpricedCalls: 0,
  usage: noUsage,
  usd: 0,
  guessedTokens: 0,
  guessedUsd: 0,
};

export function addCounters(a: Counter, b: Counter): Counter {
  return {
    turns: a.turns + b.turns,
    calls: a.calls + b.calls,
    unpricedCalls: a.unpricedCalls + b.unpricedCalls,
    usage: addUsage(a.usage, b.usage),
    usd: a.usd + b.usd,
    guessedTokens: a.guessedTokens + b.guessedTokens,
    guessedUsd: a.guessedUsd + b.guessedUsd,
  };
}

/** Who pays for a turn. */
export interface Account {
  /** `channel:sender`; absent where nobody asked. */
  readonly sender: string | undefined;
  readonly job: string | undefined;
}

export function counterId(of: CounterOf, day: string, name = ""): string {
  return name === "" ? `${of} ${day}` : `${of} ${day} ${name}`;
}

export function parseCounterId(
  id: string,
): { readonly of: string; readonly day: string; readonly name: string } | undefined {
  const [, of = "", day = "", name = ""] = /^(\w+) (\d{4}-\d\d-\d\d)(?: ([\s\S]*))?$/.exec(id) ?? [];
  return day === "" ? undefined : { of, day, name };
}

/** What stored events add to the counters of a day: a turn with the message that begins it, a call with its answer. */
export function countsOf(drafts: readonly EventDraft[], day: string, account: Account): readonly Count[] {
  const added: Count[] = [];
  for (const draft of drafts) {
    if (draft.type === "user_message" && draft.payload.iteration === 1)
      added.push(...forEach(day, account, undefined, { turns: 1 }));
    // What an answer has used that was cut is counted when it is cut.
    if (draft.type === "assistant_message" && draft.payload.partial) continue;
    const use = modelUseOf(draft);
    if (use === undefined) continue;
    added.push(...useCounts(use, day, account));
  }
  return added;
}

/** A guess at what a cut answer has used is kept apart from what its provider has reported. */
export function useCounts(use: ModelUse, day: string, account: Account): readonly Count[] {
  const { usage, cost_usd: cost, model, guess } = use;
  const cut = { guessed_tokens: guess?.tokens ?? 0, guessed_usd: guess?.cost_usd ?? 0 };
  const isReported = guess === undefined || tokensOf(usage) > 0;
  const reported = isReported ? { calls: 1, ...usage, ...(cost === undefined ? { unpriced: 1 } : { usd: cost }) } : {};
  return forEach(day, account, model, { ...reported, ...cut });
}

function forEach(
  day: string,
  { sender, job }: Account,
  model: string | undefined,
  numbers: Readonly<Record<string, number>>,
): readonly Count[] {
  const add = Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== 0));
  const count = (of: CounterOf, name?: string): Count => ({ kind: usageKind, id: counterId(of, day, name), add });
  return [
    count("day"),
    ...(model === undefined ? [] : [count("model", model)]),
    ...(sender === undefined ? [] : [count("sender", sender)]),
    ...(job === undefined ? [] : [count("job", job)]),
  ];
}

export function readCounter(records: Pick<Records, "get">, id: string): Counter {
  return toCounter(records.get(id));
}

/** A record's value; what is missing in it is 0. */
export function toCounter(value: unknown): Counter {
  const numbers = new Map<string, unknown>(Object.entries(typeof value === "object" && value !== null ? value : {}));
  const of = (key: string): number => {
    const number = numbers.get(key);
    return typeof number === "number" ? number : 0;
  };
  return {
    turns: of("turns"),
    calls: of("calls"),
    unpricedCalls: of("unpriced"),
    usage: {
      input_tokens: of("input_tokens"),
      output_tokens: of("output_tokens"),
      cache_read_tokens: of("cache_read_tokens"),
      cache_write_tokens: of("cache_write_tokens"),
    },
    usd: of("usd"),
    guessedTokens: of("guessed_tokens"),
    guessedUsd: of("guessed_usd"),
  };
}

/** What counts against a budget: the providers' own figures, and the guesses where there are none. */
export function amountOf({ turns, usage, usd, guessedTokens, guessedUsd }: Counter): Amount {
  return { turns, tokens: tokensOf(usage) + guessedTokens, usd: usd + guessedUsd };
}

export function tokensOf(usage: Usage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}
