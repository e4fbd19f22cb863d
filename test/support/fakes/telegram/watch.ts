/** Lets tests wait for what happens at the server. */
export class Watch {
  readonly #watchers = new Set<() => void>();

  /** Something has happened. */
  notify(): void {
    for (const watcher of this.#watchers) watcher();
  }

  until(done: () => boolean, what: () => string, limitMs: number): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(check);
        settle();
      };
      const check = (): void => {
        if (done()) finish(resolve);
      };
      const timer = setTimeout(() => finish(() => reject(new Error(`After ${limitMs} ms: ${what()}`))), limitMs);
      this.#watchers.add(check);
    });
  }
}
