import { setMaxListeners } from "node:events";

/** Made once, because making one takes a stack trace. */
const aborted = new DOMException("This operation was aborted", "AbortError");

/** An abort scope below a parent signal, which lets go of the parent when disposed. */
export interface LinkedAbort extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/**
 * A signal that aborts with `parent`, by its own `abort`, or after `timeoutMs`.
 * `AbortSignal.any` on a long-lived parent leaks on Node 20; this unhooks itself when disposed.
 */
export function linked(parent: AbortSignal, timeoutMs?: number): LinkedAbort {
  const controller = new AbortController();
  // As many scopes as there is work; each lets go, so that their number is not a leak.
  setMaxListeners(0, parent);
  const onParentAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onParentAbort();
  else parent.addEventListener("abort", onParentAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => controller.abort(new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError")),
          timeoutMs,
        );
  timer?.unref();
  return {
    signal: controller.signal,
    abort: (reason = aborted) => controller.abort(reason),
    [Symbol.dispose]() {
      parent.removeEventListener("abort", onParentAbort);
      clearTimeout(timer);
    },
  };
}
