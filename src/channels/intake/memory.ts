import { LRUCache } from "lru-cache";

const most = 4000;

/** Messages that were heard lately, and those of them that are settled. Outlives a run, but not the process. */
export class IntakeMemory {
  readonly #heard = new LRUCache<string, true>({ max: most });
  readonly #settled = new LRUCache<string, true>({ max: most });

  hear(id: string): void {
    this.#heard.set(id, true);
  }

  wasHeard(id: string): boolean {
    return this.#heard.has(id);
  }

  settle(id: string): void {
    this.#settled.set(id, true);
  }

  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }
}
