import { EngineError } from "../../../errors.js";
import { onAbort, QuickAbort } from "../../../util/async/on-abort.js";

/** `stop` by a person, `cancel` because a newer message takes its place, `abort` together with its whole session. */
export type StopMode = "stop" | "cancel" | "abort";

/** Why a turn is ended before its time. */
export type Interrupt =
  | { readonly kind: "user"; readonly mode: StopMode }
  /** The process stops, or the attempt was taken away: nothing is written. After a stop the turn goes on at the next start. */
  | { readonly kind: "shutdown" };

/** What ends a turn before its time, from whichever side it comes. The first reason counts. */
export class Interruption {
  readonly #controller = new QuickAbort();
  #why: Interrupt | undefined;

  /** `attempt` aborts when the process is to stop, which a turn may outlast, or when the attempt was taken away. */
  constructor(attempt: AbortSignal) {
    onAbort(attempt, () => {
      if (attempt.reason instanceof EngineError && attempt.reason.kind === "fenced")
        this.interrupt({ kind: "shutdown" });
    });
  }

  /** Aborts with the turn. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How a person, a newer message or the session's end has stopped the turn. */
  get stopMode(): StopMode | undefined {
    return this.#why?.kind === "user" ? this.#why.mode : undefined;
  }

  get isShuttingDown(): boolean {
    return this.#why?.kind === "shutdown";
  }

  interrupt(why: Interrupt): void {
    this.#why ??= why;
    this.#controller.abort(new DOMException("The turn was stopped", "AbortError"));
  }
}
