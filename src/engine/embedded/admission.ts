import { EngineError } from "../../errors.js";

interface AdmissionLimits {
  /** Accepts on their way to the disk. */
  readonly acceptsWaiting: number;
  readonly pendingPerKey: number;
  readonly waitMs: number;
}

interface Waiter {
  readonly enter: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Lets accepts in, in the order of the calls. A full lane holds up only its own; when too many are on their way to
 * the disk, all wait.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #pendingIn: (lane: string) => number;
  readonly #waiting = new Map<string, Waiter[]>();
  #onTheirWay = 0;
  #isChecking = false;

  constructor(limits: AdmissionLimits, pendingIn: (lane: string) => number) {
    this.#limits = limits;
    this.#pendingIn = pendingIn;
  }

  /**
   * Calls `write` as soon as there is room: at once, or later from within `recheck` or `leave`. Each call of `write`
   * that did not throw is followed by one of `leave`.
   *
   * @throws {EngineError} `buffer_full` after the wait
   */
  enter<T>(lane: string, write: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        this.#onTheirWay += 1;
        try {
          resolve(write());
        } catch (error) {
          this.#onTheirWay -= 1;
          reject(error);
        }
      };
      const ahead = this.#waiting.get(lane);
      if (ahead === undefined && this.#hasRoom(lane)) return enter();
      const { waitMs } = this.#limits;
      const waiter: Waiter = {
        enter,
        reject,
        timer: setTimeout(() => {
          const message = `No room for another message of ${lane} within ${waitMs} ms`;
          this.#remove(lane, waiter);
          reject(new EngineError(message, { kind: "buffer_full" }));
        }, waitMs),
      };
      if (ahead === undefined) this.#waiting.set(lane, [waiter]);
      else ahead.push(waiter);
    });
  }

  leave(): void {
    this.#onTheirWay -= 1;
    this.recheck();
  }

  /** Lanes may have become shorter. */
  recheck(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    for (const [lane, waiters] of this.#waiting) {
      for (let first = waiters[0]; first !== undefined && this.#hasRoom(lane); first = waiters[0]) {
        this.#remove(lane, first);
        first.enter();
      }
      if (this.#onTheirWay >= this.#limits.acceptsWaiting) break;
    }
    this.#isChecking = false;
  }

  /** Turns away everyone who waits. */
  close(error: Error): void {
    for (const waiters of this.#waiting.values()) {
      for (const { timer, reject } of waiters) {
        clearTimeout(timer);
        reject(error);
      }
    }
    this.#waiting.clear();
  }

  #hasRoom(lane: string): boolean {
    return this.#onTheirWay < this.#limits.acceptsWaiting && this.#pendingIn(lane) < this.#limits.pendingPerKey;
  }

  #remove(lane: string, waiter: Waiter): void {
    clearTimeout(waiter.timer);
    const waiters = this.#waiting.get(lane);
    if (waiters === undefined) return;
    waiters.splice(waiters.indexOf(waiter), 1);
    if (waiters.length === 0) this.#waiting.delete(lane);
  }
}
