import { setMaxListeners } from "node:events";

/**
 * Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it aborts.
 * Uses the global timer, so that mock timers reach it.
 */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    // Many may wait below one signal; each lets go when it is done.
    setMaxListeners(0, signal);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
