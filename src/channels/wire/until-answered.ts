import { ChannelError, EngineError } from "../../errors.js";
import { backoffMs } from "../../util/async/backoff.js";
import { sleep } from "../../util/async/sleep.js";

const retry = { firstMs: 500, longestMs: 30_000 };

/**
 * Asks again, later each time and not before the platform says so, while trying again can help. `isLasting`: an error that
 * somebody has to do something about first.
 */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
  isLasting: (error: unknown) => boolean = () => false,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      const canPass = (error instanceof ChannelError || error instanceof EngineError) && error.retryable;
      if (!canPass || signal.aborted || isLasting(error)) throw error;
      await sleep(Math.max(backoffMs(failures, retry), error.retryAfterMs ?? 0), signal);
    }
  }
}
