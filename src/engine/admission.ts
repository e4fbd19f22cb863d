import { EngineError } from "../errors.js";

interface AdmissionLimits {
  /** Accepts on their way to the disk. */
  readonly acceptsWaiting: number;
  readonly waitMs: number;
}

interface Waiter {
  readonly enter: () => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Lets accepts in, in the order of the calls: when too many are on their way to the disk, all wait. */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiting: Waiter[] = [];
  #onTheirWay = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /**
   * Calls `write` as soon as there is room: at once, or later from within `leave`. Each call of `write` that did not
   * throw is followed by one of `leave`.
   *
   * @throws {EngineError} `buffer_full` after the wait
   */
  enter<T>(write: () => T): Promise<T> {
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
      if (this.#waiting.length === 0 && this.#hasRoom) return enter();
      const { waitMs } = this.#limits;
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        const message = `The disk is too slow: nothing more was taken within ${waitMs} ms`;
        reject(new EngineError(message, { kind: "buffer_full" }));
      }, waitMs);
      const waiter: Waiter = { enter, reject, timer };
      this.#waiting.push(waiter);
    });
  }

  leave(): void {
    this.#onTheirWay -= 1;
    while (this.#hasRoom) {
      const first = this.#waiting.shift();
      if (first === undefined) return;
      clearTimeout(first.timer);
      first.enter();
    }
  }

  /** Turns away everyone who waits. */
  close(error: Error): void {
    for (const { timer, reject } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(error);
    }
  }

  get #hasRoom(): boolean {
    return this.#onTheirWay < this.#limits.acceptsWaiting;
  }
}
