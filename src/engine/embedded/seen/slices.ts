const sliceMs = 5;

/** Long work in the background: others get their turn every few milliseconds. */
export class Slices {
  readonly #signal: AbortSignal;
  #until = performance.now() + sliceMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  isOver(): boolean {
    return performance.now() > this.#until;
  }

  /** @throws what the signal was aborted with */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
    this.#until = performance.now() + sliceMs;
  }
}
