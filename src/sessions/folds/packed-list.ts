import { deserialize, serialize } from "node:v8";

/** So many items are packed together. */
const chunkItems = 500;
/** So many of the newest stay as they are at least. */
const recentItems = 200;

/** What is in a file of it. */
export interface PackedItems<T> {
  readonly chunks: readonly Uint8Array[];
  readonly packed: number;
  readonly recent: readonly T[];
}

/**
 * A list that mostly grows at its end. Of a long one the older part is bytes, which are read when somebody wants all of it and are not kept
 * as objects then: a conversation of 100,000 events is opened for its newest message far more often than it is looked through.
 */
export class PackedList<T> {
  #chunks: readonly Uint8Array[] = [];
  /** Items in them. */
  #packed = 0;
  #recent: T[] = [];
  readonly #toSmall: (item: T, before: T | undefined) => T;

  /** @param toSmall an item that was read from bytes, in as little memory as one that is pushed; it gets the one before it as well */
  constructor(toSmall: (item: T, before: T | undefined) => T = (item) => item) {
    this.#toSmall = toSmall;
  }

  get length(): number {
    return this.#packed + this.#recent.length;
  }

  get last(): T | undefined {
    return this.#recent.at(-1);
  }

  push(item: T): void {
    this.#recent.push(item);
  }

  /** Replaces the newest one that is wanted; false where there is none. */
  replaceLast(isWanted: (item: T) => boolean, toOther: (item: T) => T): boolean {
    const at = this.#recent.findLastIndex(isWanted);
    const found = this.#recent[at];
    if (found !== undefined) this.#recent[at] = toOther(found);
    return found !== undefined;
  }

  /** All items, the oldest first: a copy, which costs something where the list is long. */
  all(): T[] {
    // They are what `pack` has packed.
    return [...this.#chunks.flatMap((chunk) => deserialize(chunk) as T[]), ...this.#recent];
  }

  set(items: readonly T[]): void {
    this.#chunks = [];
    this.#packed = 0;
    this.#recent = [...items];
  }

  /** For a file, older items as bytes: those before the first one that may still change. What `all` gives stays the same. */
  pack(mayChange: (item: T) => boolean): PackedItems<T> {
    const first = this.#recent.findIndex(mayChange);
    const done = Math.min(first === -1 ? this.#recent.length : first, this.#recent.length - recentItems - 1);
    const chunks: Uint8Array[] = [];
    for (let at = 0; at + chunkItems <= done; at += chunkItems)
      chunks.push(serialize(this.#recent.slice(at, at + chunkItems)));
    if (chunks.length > 0) {
      this.#chunks = [...this.#chunks, ...chunks];
      this.#packed += chunks.length * chunkItems;
      this.#recent = this.#recent.slice(chunks.length * chunkItems);
    }
    return { chunks: this.#chunks, packed: this.#packed, recent: this.#recent };
  }

  restore({ chunks, packed, recent }: PackedItems<T>): void {
    this.#chunks = chunks;
    this.#packed = packed;
    this.#recent = [];
    for (const item of recent) this.#recent.push(this.#toSmall(item, this.#recent.at(-1)));
  }
}
