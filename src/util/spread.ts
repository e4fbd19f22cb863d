/** How many observations lie at or below each bound, all of them, and their sum. */
export interface SpreadCounts {
  readonly buckets: readonly { readonly bound: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** Counts observations by size. What it takes does not grow with them. */
export class Spread {
  readonly #buckets: readonly { readonly bound: number; count: number }[];
  #count = 0;
  #sum = 0;

  /** @param bounds upper bounds of the buckets, rising */
  constructor(bounds: readonly number[]) {
    this.#buckets = bounds.map((bound) => ({ bound, count: 0 }));
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    for (const bucket of this.#buckets) if (value <= bucket.bound) bucket.count += 1;
  }

  read(): SpreadCounts {
    return { buckets: this.#buckets, count: this.#count, sum: this.#sum };
  }
}
