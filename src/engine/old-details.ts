import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { sleep } from "../util/async/sleep.js";
import type { Records } from "./engine.js";
import type { ThinReport, ThinSpan } from "./left-out.js";

const dayMs = 24 * 60 * 60 * 1000;
/** A start has better things to do. */
const firstMs = 10 * 60 * 1000;
const passedId = "passed";

export interface OldDetails {
  /** For so many days details are kept. */
  readonly days: number;
  /** Leaves them out of the logs that were written since a moment, of turns that ended before another one. */
  readonly thin: (span: ThinSpan, signal: AbortSignal) => Promise<ThinReport>;
  /** Remembers up to when that was done. */
  readonly records: Pick<Records, "get" | "put">;
  readonly now: () => number;
  readonly log: Logger;
  /** How long after the start it begins, and how often it is done. Default: 10 minutes, a day. */
  readonly firstMs?: number;
  readonly everyMs?: number;
}

/** Leaves details that are older than so many days out of the session logs, once a day, until the signal aborts. */
export async function dropOldDetails(options: OldDetails, signal: AbortSignal): Promise<void> {
  await sleep(options.firstMs ?? firstMs, signal).catch(() => undefined);
  while (!signal.aborted) {
    try {
      await dropOnce(options, signal);
    } catch (error) {
      if (!signal.aborted) options.log.warn(`Old details stay in the session logs: ${messageOf(error)}`, { error });
    }
    await sleep(options.everyMs ?? dayMs, signal).catch(() => undefined);
  }
}

/** A log that was not written since the time up to which the last pass went was thinned by it, as a whole. */
export async function dropOnce({ days, thin, records, now, log }: OldDetails, signal: AbortSignal): Promise<void> {
  const passed = records.get(passedId);
  const beforeMs = now() - days * dayMs;
  // After a change to more days, or of the clock, nothing was left undone.
  const sinceMs = typeof passed === "number" ? Math.min(passed, beforeMs) : 0;
  const { freed, failed } = await thin({ sinceMs, beforeMs }, signal);
  if (freed > 0) log.info("old details were left out of the session logs", { freed });
  if (failed === 0 && !signal.aborted) await records.put(passedId, beforeMs);
}
