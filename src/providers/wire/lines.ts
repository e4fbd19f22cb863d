/** Thrown when a server sends more than is taken of one thing. */
export class TooLarge extends Error {
  /** `a line`, `a stream`. */
  readonly what: string;
  readonly maxBytes: number;

  constructor(what: string, maxBytes: number) {
    super(`${what} was too large`);
    this.name = "TooLarge";
    this.what = what;
    this.maxBytes = maxBytes;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Cuts bytes into lines, which end with LF, CR or both. Each byte is looked at once. */
export class LineSplitter {
  readonly #maxBytes: number;
  /** The line that has not ended yet. */
  #open: Uint8Array[] = [];
  #openBytes = 0;
  /** The last byte was a CR, which a LF may belong to. */
  #afterReturn = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {TooLarge} a line has more bytes than allowed */
  *push(piece: Uint8Array): Generator<string> {
    let start = this.#afterReturn && piece[0] === lineFeed ? 1 : 0;
    if (piece.length > 0) this.#afterReturn = false;
    let feed = piece.indexOf(lineFeed, start);
    let back = piece.indexOf(carriageReturn, start);
    while (feed >= 0 || back >= 0) {
      const end = feed >= 0 && (back < 0 || feed < back) ? feed : back;
      yield this.#close(piece.subarray(start, end));
      start = end + 1;
      if (piece[end] === carriageReturn) {
        this.#afterReturn = start === piece.length;
        if (piece[start] === lineFeed) start += 1;
      }
      if (feed >= 0 && feed < start) feed = piece.indexOf(lineFeed, start);
      if (back >= 0 && back < start) back = piece.indexOf(carriageReturn, start);
    }
    this.#keep(piece.subarray(start));
  }

  /** What no line end came behind. */
  end(): string {
    return this.#close(new Uint8Array());
  }

  #keep(bytes: Uint8Array): void {
    this.#openBytes += bytes.length;
    if (this.#openBytes > this.#maxBytes) throw new TooLarge("a line", this.#maxBytes);
    if (bytes.length > 0) this.#open.push(bytes);
  }

  #close(bytes: Uint8Array): string {
    const isWhole = this.#open.length === 0;
    this.#keep(bytes);
    // Most lines come in one piece, and need no copy.
    const all = isWhole ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) : Buffer.concat(this.#open);
    const text = all.toString("utf8");
    this.#open = [];
    this.#openBytes = 0;
    return text;
  }
}
