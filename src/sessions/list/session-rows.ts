import { KeyTable } from "./key-table.js";

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
 * kept, as bytes. A session keeps the number of its row while it is there.
 */
export class SessionRows {
  readonly #keys = new KeyTable();
  #at = new Float64Array(1024);
  #lastSequence = new Float64Array(1024);
  /** The order as it was made at last. */
  #order = new Uint32Array(0);
  /** Rows that have changed since: their places in the order do not count. */
  readonly #moved = new Set<number>();
  #counted: { readonly prefix: string; readonly count: number } | undefined;

  get size(): number {
    return this.#keys.size;
  }

  *keys(): IterableIterator<string> {
    for (const number of this.#keys.numbers()) yield this.#keys.keyOf(number);
  }

  /** The numbers of all rows. */
  numbers(): IterableIterator<number> {
    return this.#keys.numbers();
  }

  /** One more than the highest of them. */
  get end(): number {
    return this.#keys.end;
  }

  has(key: string): boolean {
    return this.#keys.find(key) !== undefined;
  }

  /** The number of the session's row. */
  numberOf(key: string): number | undefined {
    return this.#keys.find(key);
  }

  /** The number of the row whose session's plain file name begins so: `telegram_42` for `telegram:42`. */
  numberOfFile(name: string, length: number): number | undefined {
    return this.#keys.findFile(name, length);
  }

  keyOf(number: number): string {
    return this.#keys.keyOf(number);
  }

  /** Whether the row's key begins so, without making a string of it. */
  hasPrefix(number: number, prefix: Uint8Array): boolean {
    return this.#keys.hasPrefix(number, prefix);
  }

  /** How many keys begin so. Only the last answer is kept, until a session comes or goes. */
  countOf(prefix: string): number {
    if (this.#counted?.prefix !== prefix)
      this.#counted = { prefix, count: this.#keys.countPrefix(Buffer.from(prefix)) };
    return this.#counted.count;
  }

  /** Unix ms of the row's last message. */
  atOf(number: number): number | undefined {
    const at = this.#at[number] ?? Number.NEGATIVE_INFINITY;
    return at === Number.NEGATIVE_INFINITY ? undefined : at;
  }

  get(key: string): SessionRow | undefined {
    const number = this.#keys.find(key);
    if (number === undefined) return undefined;
    const lastSequence = this.#lastSequence[number];
    return { key, at: this.atOf(number), lastSequence: lastSequence === 0 ? undefined : lastSequence };
  }

  /** The number of its row. */
  set({ key, at, lastSequence }: SessionRow): number {
    const before = this.#keys.size;
    const number = this.#keys.add(key);
    this.#fill(number, this.#keys.size > before, at, lastSequence);
    return number;
  }

  /** The same for a key that is these bytes. */
  setBytes(
    key: { readonly bytes: Uint8Array; readonly from: number; readonly to: number },
    at: number | undefined,
    lastSequence: number | undefined,
  ): number {
    const before = this.#keys.size;
    const number = this.#keys.addBytes(key.bytes, key.from, key.to);
    this.#fill(number, this.#keys.size > before, at, lastSequence);
    return number;
  }

  /** The number that its row had. */
  delete(key: string): number | undefined {
    const number = this.#keys.delete(key);
    this.#counted = undefined;
    if (number !== undefined) this.#moved.add(number);
    return number;
  }

  /** The session is newer than its line says. */
  touch(key: string, at: number | undefined): void {
    this.set({ key, at, lastSequence: this.get(key)?.lastSequence });
  }

  /** All keys, the newest first; those of the same moment by their keys. */
  *newestFirst(): Iterable<string> {
    for (const number of this.inOrder()) yield this.keyOf(number);
  }

  /** The numbers of all rows in this order. */
  *inOrder(): Iterable<number> {
    if (this.#moved.size > mostMoved) this.#sort();
    const moved = [...this.#moved].filter((number) => this.#keys.isUsed(number)).sort((a, b) => this.#compare(a, b));
    let next = 0;
    for (const number of this.#order) {
      if (this.#moved.has(number)) continue;
      for (; next < moved.length && this.#compare(moved[next] ?? 0, number) < 0; next += 1) yield moved[next] ?? 0;
      yield number;
    }
    for (; next < moved.length; next += 1) yield moved[next] ?? 0;
  }

  #fill(number: number, isNew: boolean, at = Number.NEGATIVE_INFINITY, lastSequence = 0): void {
    if (isNew) this.#counted = undefined;
    while (number >= this.#at.length) this.#grow();
    // Beyond that all are put in order anyway.
    if ((isNew || this.#at[number] !== at) && this.#moved.size <= mostMoved) this.#moved.add(number);
    this.#at[number] = at;
    this.#lastSequence[number] = lastSequence;
  }

  #compare(a: number, b: number): number {
    const atA = this.#at[a] ?? 0;
    const atB = this.#at[b] ?? 0;
    return atA === atB ? this.#keys.compare(a, b) : atB - atA;
  }

  #sort(): void {
    this.#order = Uint32Array.from(this.#keys.numbers()).sort((a, b) => this.#compare(a, b));
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
