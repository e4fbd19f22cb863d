/** So many items come in at once, above or below. */
export const windowStep = 40;
/** More are not in the page at once: what is far from the reader goes at the other end. */
const maxItems = 4 * windowStep;

/** Which items of a long list are in the page: `[start, end)`. */
export class ItemWindow {
  #start = 0;
  #end = 0;
  #length = 0;

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get hasAbove(): boolean {
    return this.#start > 0;
  }

  get hasBelow(): boolean {
    return this.#end < this.#length;
  }

  /**
   * The list is another. `above`: so many items came in before the first; the rest came, or went, at the end.
   * `isAtEnd`: the reader is there, and stays there.
   */
  resize(length: number, above: number, isAtEnd: boolean): void {
    const wasAtEnd = this.#end >= this.#length;
    this.#length = length;
    if (isAtEnd) {
      this.toEnd();
      return;
    }
    this.#start = Math.min(this.#start + above, Math.max(0, length - windowStep));
    this.#end = Math.min(this.#end + above, length);
    if (wasAtEnd) this.#end = Math.min(length, Math.max(this.#end, this.#start + maxItems));
  }

  /** The newest items only. */
  toEnd(): void {
    this.#end = this.#length;
    this.#start = Math.max(0, this.#length - windowStep);
  }

  /** Those around this one. */
  around(index: number): void {
    this.#start = Math.max(0, index - windowStep);
    this.#end = Math.min(this.#length, index + windowStep);
  }

  growUp(): void {
    this.#start = Math.max(0, this.#start - windowStep);
    this.#end = Math.min(this.#end, this.#start + maxItems);
  }

  growDown(): void {
    this.#end = Math.min(this.#length, this.#end + windowStep);
    this.#start = Math.max(this.#start, this.#end - maxItems);
  }

  clear(): void {
    this.#start = 0;
    this.#end = 0;
    this.#length = 0;
  }
}
