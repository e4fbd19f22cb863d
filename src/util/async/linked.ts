import { onAbort, QuickAbort } from "./on-abort.js";

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
  return new Linked(parent, timeoutMs);
}

class Linked extends QuickAbort implements LinkedAbort {
  readonly #letGo: () => void;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(parent: AbortSignal, timeoutMs: number | undefined) {
    super();
    this.#letGo = onAbort(parent, () => this.abort(parent.reason));
    if (timeoutMs === undefined) return;
    const late = (): void => this.abort(new DOMException(`No answer within ${timeoutMs} ms`, "TimeoutError"));
    this.#timer = setTimeout(late, timeoutMs).unref();
  }

  override abort(reason: unknown = aborted): void {
    super.abort(reason);
  }

  [Symbol.dispose](): void {
    this.#letGo();
    clearTimeout(this.#timer);
  }
}
