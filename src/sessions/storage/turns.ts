/** Lets a few calls run at once and the others wait in order, or give up together. */
export class Turns {
  readonly #most: number;
  #running = 0;
  #waiting: { readonly begin: () => void; readonly fail: (error: unknown) => void }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs `work` when its turn comes. Rejects with what it throws, or with the reason of `giveUp` before its turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((begin, fail) => this.#waiting.push({ begin, fail }));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next.begin();
    }
  }

  /** All that wait now fail. */
  giveUp(reason: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { fail } of waiting) fail(reason);
  }
}
