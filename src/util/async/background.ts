/** Work that nobody waits for but the end. */
export class Background {
  readonly #works = new Set<Promise<void>>();
  readonly #onFailure: (error: unknown) => void;

  /** `onFailure` hears about what rejects; it must not throw. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  own(work: Promise<unknown>): void {
    const done = work
      .then(() => undefined, this.#onFailure)
      .finally(() => {
        this.#works.delete(done);
      });
    this.#works.add(done);
  }

  /** Resolves once nothing is under way, also not what was begun meanwhile. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}
