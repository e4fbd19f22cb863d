import type { FileHandle } from "node:fs/promises";

/** Lines that are so near to each other are read in one go. */
const nearBytes = 64 * 1024;
const pieceBytes = 1024 * 1024;

/** Where in the index file the line of each row is. */
export class LinePlaces {
  #offsets = new Float64Array(1024);
  #lengths = new Uint32Array(1024);

  set(row: number, offset: number, length: number): void {
    while (row >= this.#offsets.length) this.#grow();
    this.#offsets[row] = offset;
    this.#lengths[row] = length;
  }

  /** Its end of line included. */
  lengthOf(row: number): number {
    return this.#lengths[row] ?? 0;
  }

  /** The lines of these rows in the order of the file, with few reads. The bytes are void afterwards. */
  async *read(
    file: FileHandle,
    rows: Iterable<number>,
  ): AsyncIterable<{ readonly row: number; readonly bytes: Buffer }> {
    const inOrder = Uint32Array.from(rows).sort((a, b) => this.offsetOf(a) - this.offsetOf(b));
    for (let next = 0; next < inOrder.length; ) {
      const first = next;
      const start = this.offsetOf(inOrder[first] ?? 0);
      let end = start;
      for (; next < inOrder.length; next += 1) {
        const row = inOrder[next] ?? 0;
        const isNear =
          this.offsetOf(row) - end <= nearBytes && this.offsetOf(row) + this.lengthOf(row) - start <= pieceBytes;
        if (next > first && !isNear) break;
        end = this.offsetOf(row) + this.lengthOf(row);
      }
      const piece = Buffer.allocUnsafe(end - start);
      const { bytesRead } = await file.read(piece, 0, piece.length, start);
      for (const row of inOrder.subarray(first, next)) {
        const at = this.offsetOf(row) - start;
        const length = this.lengthOf(row);
        if (at + length <= bytesRead) yield { row, bytes: piece.subarray(at, at + length) };
      }
    }
  }

  offsetOf(row: number): number {
    return this.#offsets[row] ?? 0;
  }

  #grow(): void {
    const offsets = new Float64Array(this.#offsets.length * 2);
    offsets.set(this.#offsets);
    this.#offsets = offsets;
    const lengths = new Uint32Array(this.#lengths.length * 2);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
  }
}
