import { onAbort } from "./on-abort.js";

/**
 * Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it aborts.
 * Uses the global timer, so that mock timers reach it.
 */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const letGo = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
    const timer = setTimeout(() => {
      letGo();
      resolve();
    }, ms);
  });
}
