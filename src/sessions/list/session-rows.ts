/** What stays in memory of a session's line: enough to find the session and to put it in its place. */
export interface SessionRow {
  readonly key: string;
  /** Unix ms of the last message; undefined when there is none. */
  readonly at: number | undefined;
  /** The document shows the log up to here. Undefined in documents that others wrote. */
  readonly lastSequence: number | undefined;
}

/** So many sessions may have changed their places before all are put in order again. */
const mostMoved = 1000;

/**
 * All sessions, the newest first. There may be 100,000: the numbers are in columns, and of the texts only the keys are
 * kept. A session keeps the number of its row while it is there.
 */
export class SessionRows {
  readonly #numbers = new Map<string, number>();
  readonly #keys: string[] = [];
  #at = new Float64Array(1024);
  #lastSequence = new Float64Array(1024);
  readonly #free: number[] = [];
  /** The order as it was made at last. */
  #order = new Uint32Array(0);
  /** Rows that have changed since: their places in the order do not count. */
  readonly #moved = new Set<number>();

  get size(): number {
    return this.#numbers.size;
  }

  keys(): IterableIterator<string> {
    return this.#numbers.keys();
  }

  has(key: string): boolean {
    return this.#numbers.has(key);
  }

  /** The number of the session's row. */
  numberOf(key: string): number | undefined {
    return this.#numbers.get(key);
  }

  keyOf(number: number): string {
    return this.#keys[number] ?? "";
  }

  get(key: string): SessionRow | undefined {
    const number = this.#numbers.get(key);
    if (number === undefined) return undefined;
    const [at = Number.NEGATIVE_INFINITY, lastSequence = 0] = [this.#at[number], this.#lastSequence[number]];
    return {
      key,
      at: at === Number.NEGATIVE_INFINITY ? undefined : at,
      lastSequence: lastSequence === 0 ? undefined : lastSequence,
    };
  }

  /** The number of its row. */
  set({ key, at = Number.NEGATIVE_INFINITY, lastSequence = 0 }: SessionRow): number {
    const known = this.#numbers.get(key);
    const number = known ?? this.#free.pop() ?? this.#keys.length;
    if (number >= this.#at.length) this.#grow();
    if (known === undefined || this.#at[number] !== at) this.#moved.add(number);
    this.#numbers.set(key, number);
    this.#keys[number] = key;
    this.#at[number] = at;
    this.#lastSequence[number] = lastSequence;
    return number;
  }

  /** The number that its row had. */
  delete(key: string): number | undefined {
    const number = this.#numbers.get(key);
    if (number === undefined) return undefined;
    this.#numbers.delete(key);
    this.#keys[number] = "";
    this.#free.push(number);
    this.#moved.add(number);
    return number;
  }

  /** The session is newer than its line says. */
  touch(key: string, at: number | undefined): void {
    this.set({ key, at, lastSequence: this.get(key)?.lastSequence });
  }

  /** All keys, the newest first; those of the same moment by their keys. */
  *newestFirst(): Iterable<string> {
    if (this.#moved.size > mostMoved) this.#sort();
    const moved = [...this.#moved].filter((number) => this.#isUsed(number)).sort((a, b) => this.#compare(a, b));
    let next = 0;
    for (const number of this.#order) {
      if (this.#moved.has(number)) continue;
      for (; next < moved.length && this.#compare(moved[next] ?? 0, number) < 0; next += 1)
        yield this.keyOf(moved[next] ?? 0);
      yield this.keyOf(number);
    }
    for (; next < moved.length; next += 1) yield this.keyOf(moved[next] ?? 0);
  }

  #isUsed(number: number): boolean {
    return this.#numbers.get(this.keyOf(number)) === number;
  }

  #compare(a: number, b: number): number {
    const [atA = 0, atB = 0] = [this.#at[a], this.#at[b]];
    if (atA !== atB) return atA < atB ? 1 : -1;
    return this.keyOf(a) < this.keyOf(b) ? -1 : 1;
  }

  #sort(): void {
    this.#order = Uint32Array.from(this.#numbers.values()).sort((a, b) => this.#compare(a, b));
    this.#moved.clear();
  }

  #grow(): void {
    const wider = (column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const copy = new Float64Array(column.length * 2);
      copy.set(column);
      return copy;
    };
    this.#at = wider(this.#at);
    this.#lastSequence = wider(this.#lastSequence);
  }
}
