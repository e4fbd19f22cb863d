import { EngineError } from "../errors.js";
import { linked } from "../util/async/linked.js";
import { settledWithin } from "../util/async/within.js";

const settleMs = 5000;

/** From the first call of an engine to its end: what works for it is ended with it, and may write until it has settled. */
export class EngineLife {
  readonly #closing = new AbortController();
  readonly #consuming = new Set<Promise<void>>();
  #isClosed = false;

  /** Nothing is begun any more. @throws {EngineError} `closed` */
  assertRunning(): void {
    if (this.#closing.signal.aborted) throw closedError();
  }

  /** What was begun may be written until it has settled. @throws {EngineError} `closed` */
  assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }

  /** Runs `work` until its own signal or the engine's end. @throws {EngineError} `closed` */
  async consume(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    this.assertRunning();
    using scope = linked(signal);
    const stop = (): void => scope.abort(closedError());
    this.#closing.signal.addEventListener("abort", stop, { once: true });
    const done = work(scope.signal);
    this.#consuming.add(done);
    try {
      await done;
    } finally {
      this.#consuming.delete(done);
      this.#closing.signal.removeEventListener("abort", stop);
    }
  }

  /** Asks what works to end. */
  beginClosing(): void {
    this.#closing.abort();
  }

  /** Resolves once all that worked has ended: true, or after five seconds: false. Afterwards the engine is closed. */
  async settle(): Promise<boolean> {
    const hasSettled = await settledWithin(Promise.allSettled(this.#consuming), { ms: settleMs });
    this.#isClosed = true;
    return hasSettled;
  }
}

export function closedError(): EngineError {
  return new EngineError("The engine is closed", { kind: "closed" });
}
