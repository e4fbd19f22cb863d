const keptAtEachEnd = 512 * 1024;

/**
 * What a command has written, in bounded memory: the beginning and the end of it are kept, with a note between them
 * where something was left out.
 */
export class Output {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #total = 0;
  #readUpTo = 0;

  get bytes(): number {
    return this.#total;
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const room = keptAtEachEnd - this.#headBytes;
    const first = chunk.subarray(0, room);
    if (first.length > 0) this.#head.push(first);
    this.#headBytes += first.length;
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    // Joined only now and then, so that many small pieces cost little.
    if (this.#tailBytes > 2 * keptAtEachEnd) {
      this.#tail = [Buffer.concat(this.#tail).subarray(-keptAtEachEnd)];
      this.#tailBytes = keptAtEachEnd;
    }
  }

  /** All that is kept. */
  text(): string {
    return this.#from(0);
  }

  hasNews(): boolean {
    return this.#readUpTo < this.#total;
  }

  /** What has come since the last call. */
  news(): string {
    const text = this.#from(this.#readUpTo);
    this.#readUpTo = this.#total;
    return text;
  }

  #from(offset: number): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail).subarray(-keptAtEachEnd);
    const tailAt = this.#total - tail.length;
    if (offset >= tailAt) return tail.subarray(offset - tailAt).toString("utf8");
    const missing = tailAt - Math.max(offset, head.length);
    if (missing === 0) return Buffer.concat([head.subarray(offset), tail]).toString("utf8");
    const note = `\n[${missing} bytes left out]\n`;
    return `${head.subarray(offset).toString("utf8")}${note}${tail.toString("utf8")}`;
  }
}
