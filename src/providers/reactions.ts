import type { ProviderErrorKind } from "../errors.js";

/** What a failed model call leads to. Whether the same model is asked again, the error itself says (`retryable`). */
export interface Reaction {
  /** The next model of the chain is asked, if there is one. */
  readonly next: boolean;
  /** For so long the model is asked only after all others, unless the far side named a time. */
  readonly restMs: number;
  /** Speaks of an ill server: so many of these in a row open its circuit. */
  readonly isFault: boolean;
}

const minute = 60_000;
const passing: Reaction = { next: true, restMs: minute, isFault: true };
/** Somebody has to change something before it works again. */
const lasting: Reaction = { next: true, restMs: 10 * minute, isFault: false };

export const reactions: Readonly<Record<ProviderErrorKind, Reaction>> = {
  auth: lasting,
  billing: lasting,
  not_found: lasting,
  rate_limit: { ...passing, isFault: false },
  overloaded: passing,
  timeout: passing,
  network: passing,
  garbage: passing,
  // It rests already; this only keeps it behind the others until it may be tried.
  circuit_open: { next: true, restMs: 0, isFault: false },
  // This request does not suit this model; the next one may.
  bad_request: { next: true, restMs: 0, isFault: false },
  // A conversation that is too long is made shorter, not sent elsewhere.
  context_overflow: { next: false, restMs: 0, isFault: false },
};
