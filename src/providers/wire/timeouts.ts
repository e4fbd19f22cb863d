import { ProviderError } from "../../errors.js";
import { linked } from "../../util/async/linked.js";

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

/** Watches one call and closes its connection when it is too slow. */
export interface Watch extends Disposable {
  /** Aborts with the caller's signal, when a limit is passed, and when disposed before the body's end. */
  readonly signal: AbortSignal;
  /** The limit that was passed, if any. */
  readonly expired: ProviderError | undefined;
  /** Bytes came. */
  touch(): void;
  /** The reader is busy: silence is its own doing, whatever is read ahead meanwhile. */
  pause(): void;
  /** The reader asks for more. */
  resume(): void;
  /** Everything that matters has come. */
  close(): void;
  /** The whole body has come: nothing is left to abort. */
  end(): void;
}

/** Starts to watch a call to `provider`. */
export function openWatch(provider: string, limits: TimeLimits, parent: AbortSignal): Watch {
  const scope = linked(parent);
  const startedAt = performance.now();
  const state = {
    quietMs: limits.firstByteMs,
    since: startedAt,
    paused: false,
    began: false,
    closing: false,
    ended: false,
  };
  let expired: ProviderError | undefined;
  let timer: NodeJS.Timeout | undefined;

  const expire = (message: string): void => {
    expired = new ProviderError(`${provider} ${message}`, { kind: "timeout", provider });
    scope.abort(expired);
  };
  const check = (): void => {
    const now = performance.now();
    const totalLeft = limits.totalMs - (now - startedAt);
    const quietLeft = state.paused ? state.quietMs : state.quietMs - (now - state.since);
    if (totalLeft <= 0) {
      expire(`did not finish its answer within ${seconds(limits.totalMs)}.`);
      return;
    }
    if (quietLeft <= 0) {
      const quiet = seconds(state.quietMs);
      expire(
        state.began
          ? `fell silent for ${quiet} in the middle of its answer.`
          : `did not begin to answer within ${quiet}.`,
      );
      return;
    }
    // A timer may fire a fraction of a millisecond early.
    timer = setTimeout(check, Math.max(1, Math.ceil(Math.min(totalLeft, quietLeft))));
  };
  check();

  return {
    signal: scope.signal,
    get expired() {
      return expired;
    },
    touch() {
      state.since = performance.now();
      if (state.began || state.closing) return;
      state.began = true;
      restart(limits.idleMs);
    },
    pause() {
      state.paused = true;
    },
    resume() {
      state.paused = false;
      state.since = performance.now();
    },
    close() {
      if (state.closing) return;
      state.closing = true;
      restart(Math.min(closingMs, limits.idleMs));
    },
    end() {
      state.ended = true;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      if (!state.ended) scope.abort();
      scope[Symbol.dispose]();
    },
  };

  function restart(quietMs: number): void {
    state.quietMs = quietMs;
    state.since = performance.now();
    clearTimeout(timer);
    if (expired === undefined) check();
  }
}

function seconds(ms: number): string {
  return ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`;
}
