import { ProviderError } from "../../errors.js";
import { type LinkedAbort, linked } from "../../util/async/linked.js";

/** How long a model call may be silent, and last. */
export interface TimeLimits {
  /** From the request to the first byte of the answer. Default 60 000. */
  readonly firstByteMs: number;
  /** Between two pieces of the answer; keep-alive comments count as pieces. Default 60 000. */
  readonly idleMs: number;
  /** The whole call. Default 600 000. */
  readonly totalMs: number;
}

export const defaultTimeLimits: TimeLimits = { firstByteMs: 60_000, idleMs: 60_000, totalMs: 600_000 };

/** Once the answer is known to be complete, the stream gets this long to close. */
const closingMs = 1500;

/** Watches one call to a provider, from its making on, and closes its connection when it is too slow. */
export class CallWatch implements Disposable {
  readonly #provider: string;
  readonly #limits: TimeLimits;
  readonly #scope: LinkedAbort;
  readonly #startedAt = performance.now();
  /** How long the call may be silent now, and since when it is. */
  #quietMs: number;
  #quietSince = this.#startedAt;
  #isPaused = false;
  #hasBegun = false;
  #isClosing = false;
  #hasEnded = false;
  #expired: ProviderError | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(provider: string, limits: TimeLimits, parent: AbortSignal) {
    this.#provider = provider;
    this.#limits = limits;
    this.#scope = linked(parent);
    this.#quietMs = limits.firstByteMs;
    this.#check();
  }

  /** Aborts with the caller's signal, when a limit is passed, and when disposed before the body's end. */
  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  /** The limit that was passed, if any. */
  get expired(): ProviderError | undefined {
    return this.#expired;
  }

  /** Bytes came. */
  touch(): void {
    this.#quietSince = performance.now();
    if (this.#hasBegun || this.#isClosing) return;
    this.#hasBegun = true;
    this.#restart(this.#limits.idleMs);
  }

  /** The reader is busy: silence is its own doing, whatever is read ahead meanwhile. */
  pause(): void {
    this.#isPaused = true;
  }

  /** The reader asks for more. */
  resume(): void {
    this.#isPaused = false;
    this.#quietSince = performance.now();
  }

  /** Everything that matters has come. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#restart(Math.min(closingMs, this.#limits.idleMs));
  }

  /** The whole body has come: nothing is left to abort. */
  end(): void {
    this.#hasEnded = true;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (!this.#hasEnded) this.#scope.abort();
    this.#scope[Symbol.dispose]();
  }

  #restart(quietMs: number): void {
    this.#quietMs = quietMs;
    this.#quietSince = performance.now();
    clearTimeout(this.#timer);
    if (this.#expired === undefined) this.#check();
  }

  #check(): void {
    const now = performance.now();
    const totalLeft = this.#limits.totalMs - (now - this.#startedAt);
    const quietLeft = this.#isPaused ? this.#quietMs : this.#quietMs - (now - this.#quietSince);
    if (totalLeft <= 0) {
      this.#expire(`did not finish its answer within ${seconds(this.#limits.totalMs)}.`);
      return;
    }
    if (quietLeft <= 0) {
      const quiet = seconds(this.#quietMs);
      this.#expire(
        this.#hasBegun
          ? `fell silent for ${quiet} in the middle of its answer.`
          : `did not begin to answer within ${quiet}.`,
      );
      return;
    }
    // A timer may fire a fraction of a millisecond early.
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(Math.min(totalLeft, quietLeft))));
  }

  #expire(message: string): void {
    this.#expired = new ProviderError(`${this.#provider} ${message}`, { kind: "timeout", provider: this.#provider });
    this.#scope.abort(this.#expired);
  }
}

function seconds(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`;
}
