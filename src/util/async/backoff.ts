export interface BackoffOptions {
  /** Before the first repeat. */
  readonly firstMs: number;
  /** Default: without an end. */
  readonly longestMs?: number | undefined;
  /** Each wait is so many times the one before. Default 2. */
  readonly growth?: number | undefined;
}

/** Between three quarters and all of it, so that many do not come back at the same moment. */
export function jittered(ms: number): number {
  return Math.round(ms * (0.75 + Math.random() * 0.25));
}

/** How long to wait after the `failures`-th failure in a row, in ms; 0 counts as the first. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs = Number.POSITIVE_INFINITY, growth = 2 }: BackoffOptions,
): number {
  return Math.min(firstMs * growth ** Math.max(0, failures - 1), longestMs);
}
