/**
 * One job at a time for each key, in the order in which they were given. A job that fails is its caller's matter: the next
 * one runs all the same. Jobs of different keys do not wait for each other; without a key all wait for each other.
 */
export class InOrder<K = undefined> {
  readonly #tails = new Map<K | undefined, Promise<unknown>>();

  /** Runs `job` once everything that was given before it for `key` has ended, and gives what it gives. */
  run<T>(job: () => T | PromiseLike<T>, key?: K): Promise<T> {
    const done = (this.#tails.get(key) ?? Promise.resolve()).then(job);
    const forget = (): void => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    const tail = done.then(forget, forget);
    this.#tails.set(key, tail);
    return done;
  }

  /** Whether a job of this key runs or waits. */
  isBusy(key?: K): boolean {
    return this.#tails.has(key);
  }

  /** Resolves once all jobs that were given for this key so far have ended. */
  async endOf(key?: K): Promise<void> {
    await this.#tails.get(key);
  }

  /** Resolves once no job runs or waits, also none that was given meanwhile. */
  async settled(): Promise<void> {
    while (this.#tails.size > 0) await Promise.all(this.#tails.values());
  }
}
