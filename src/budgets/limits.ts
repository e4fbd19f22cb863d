import type { Payload } from "../events/catalogue.js";

/** What a budget is for. */
export type Scope = Payload<"budget_exceeded">["scope"];
export type Unit = Payload<"budget_exceeded">["unit"];

/** Upper bounds; what is absent is not bounded. Tokens count as the provider counts them, cached ones included. */
export interface Limits {
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
  readonly turns?: number | undefined;
}

/** As in the config: `turn` for one turn, `session` since it began or the last `/new`, all others for a day. */
export type BudgetLimits = Readonly<Partial<Record<Scope, Limits | undefined>>>;

/** What was used, in each unit. */
export interface Amount {
  readonly tokens: number;
  readonly usd: number;
  readonly turns: number;
}

export const nothing: Amount = { tokens: 0, usd: 0, turns: 0 };

export function plus(a: Amount, b: Amount): Amount {
  return { tokens: a.tokens + b.tokens, usd: a.usd + b.usd, turns: a.turns + b.turns };
}

/** A limit that is, or would be, passed. */
export interface Exceeded {
  readonly scope: Scope;
  readonly unit: Unit;
  readonly limit: number;
  readonly used: number;
  /** What the next step needs at least, where `used` alone is still below the limit. */
  readonly needed: number;
  readonly subject?: string | undefined;
  readonly period?: string | undefined;
}

/** One thing with limits, and what it has used. */
export interface Measured {
  readonly scope: Scope;
  readonly limits: Limits;
  readonly used: Amount;
  readonly subject?: string | undefined;
  readonly period?: string | undefined;
}

const units: readonly Unit[] = ["tokens", "usd", "turns"];

/** The first limit that leaves no room for what is needed; none where nothing is needed and something is left. */
export function findExceeded(measured: readonly Measured[], needed: Amount): Exceeded | undefined {
  for (const { scope, limits, used, subject, period } of measured) {
    for (const unit of units) {
      const limit = limits[unit];
      if (limit === undefined) continue;
      const isOver = used[unit] >= limit || used[unit] + needed[unit] > limit;
      if (isOver) return { scope, unit, limit, used: used[unit], needed: needed[unit], subject, period };
    }
  }
  return undefined;
}

/** True when some limit of these units is set. */
export function counts(limits: BudgetLimits, ...of: readonly Unit[]): boolean {
  return Object.values(limits).some((each) => of.some((unit) => each?.[unit] !== undefined));
}
