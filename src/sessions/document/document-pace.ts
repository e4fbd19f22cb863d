/** Below this a document is written whenever its session is quiet. */
const smallBytes = 64 * 1024;
/** A larger one also once it has grown by this part of it … */
const growth = 1 / 4;
/** … or has been behind for so long: a second for each `smallBytes`, at most this. */
const longestMs = 30_000;

/**
 * When a document, which is written as a whole, is due: the larger it is, the less often, so that a long conversation
 * does not cost the disk its whole length for each message.
 */
export class DocumentPace {
  #documentBytes: number | undefined;
  #newBytes = 0;
  #behindSince: number | undefined;

  /** The session has changed by this. */
  note(change: unknown): void {
    this.#newBytes += sizeOf(change);
    this.#behindSince ??= performance.now();
  }

  written(document: object): void {
    this.#documentBytes = sizeOf(document);
    this.#newBytes = 0;
    this.#behindSince = undefined;
  }

  /** `read` gives the document as it is, and is asked only when its size is not known. */
  isDue(read: () => object): boolean {
    this.#documentBytes ??= sizeOf(read());
    if (this.#documentBytes < smallBytes || this.#newBytes >= this.#documentBytes * growth) return true;
    const behindMs = performance.now() - (this.#behindSince ?? 0);
    return behindMs >= Math.min(longestMs, (this.#documentBytes / smallBytes) * 1000);
  }
}

/** About how long something is as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 4;
  let size = 2;
  // Every event comes here: keys() and entries() would make arrays for each object. The key is one of its own.
  for (const key in value)
    if (Object.hasOwn(value, key)) size += key.length + 4 + sizeOf((value as Record<string, unknown>)[key]);
  return size;
}
