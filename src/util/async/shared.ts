/**
 * The same work for callers that come within `ms` of each other: looking at the same files for each of hundred messages
 * in the same moment gives the same answer.
 */
export class Shared<T> {
  readonly #work: () => Promise<T>;
  readonly #ms: number;
  #latest: { readonly result: Promise<T>; readonly startedAt: number } | undefined;

  constructor(work: () => Promise<T>, ms: number) {
    this.#work = work;
    this.#ms = ms;
  }

  get(): Promise<T> {
    const now = performance.now();
    if (this.#latest !== undefined && now - this.#latest.startedAt <= this.#ms) return this.#latest.result;
    const latest = { result: this.#work(), startedAt: now };
    this.#latest = latest;
    latest.result.catch(() => {
      if (this.#latest === latest) this.#latest = undefined;
    });
    return latest.result;
  }

  /** What was found a moment ago is not so any more: the next caller's work begins afresh. */
  forget(): void {
    this.#latest = undefined;
  }
}
