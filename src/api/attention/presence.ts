import type { Look } from "./attention-api.js";

/** A page says so every 30 seconds, and one that has gone says nothing. */
const countsMs = 45_000;
const mostPages = 200;

/** Which pages somebody looks at. Known to this process alone: after a start the pages say it again. */
export class Presence {
  readonly #now: () => number;
  readonly #looks = new Map<string, { readonly at: string; readonly until: number }>();
  readonly #listeners = new Set<() => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note({ page, at, isLooking }: Look): void {
    this.#looks.delete(page);
    if (isLooking) this.#looks.set(page, { at, until: this.#now() + countsMs });
    const [oldest] = this.#looks.keys();
    if (this.#looks.size > mostPages && oldest !== undefined) this.#looks.delete(oldest);
    if (!isLooking) for (const listener of this.#listeners) listener();
  }

  /** Somebody looks at the page, whatever it shows. */
  get isThere(): boolean {
    return this.#current().length > 0;
  }

  /** Somebody has one of these open. */
  isAt(places: readonly string[]): boolean {
    return this.#current().some(({ at }) => places.includes(at));
  }

  /** `listener` is called when a page says that nobody looks at it. Returns the undo. */
  onLeft(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #current() {
    const now = this.#now();
    return [...this.#looks.values()].filter(({ until }) => until > now);
  }
}
