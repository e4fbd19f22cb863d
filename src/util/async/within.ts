import { onAbort } from "./on-abort.js";

/** How long to wait for something; without both: as long as it takes. */
export interface Limit {
  /** The timer keeps the process going until then. */
  readonly ms?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What `work` gives; or a rejection as soon as the limit is reached: with the signal's reason, or with `late()`. Work that
 * listens to nothing holds up nobody; it goes on, and what comes from it is dropped.
 */
export function within<T>(
  work: T | PromiseLike<T>,
  limit: Limit & { readonly late?: (() => Error) | undefined },
): Promise<T> {
  const { ms, signal, late = () => new DOMException(`It took longer than ${ms} ms`, "TimeoutError") } = limit;
  return new Promise((resolve, reject) => {
    const timer = ms === undefined ? undefined : setTimeout(() => end(() => reject(late())), ms);
    let letGo = (): void => {};
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      letGo();
      settle();
    };
    Promise.resolve(work).then(
      (value) => end(() => resolve(value)),
      (error: unknown) => end(() => reject(error)),
    );
    if (signal !== undefined) letGo = onAbort(signal, () => end(() => reject(signal.reason)));
  });
}

/** Waits for `work`, but not beyond the limit. True: it has settled, well or not. Never rejects. */
export function settledWithin(work: PromiseLike<unknown>, limit: Limit): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => true,
  );
  return within(settled, limit).catch(() => false);
}
