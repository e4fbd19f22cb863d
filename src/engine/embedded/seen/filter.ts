/** So that about one in 100 unknown ids has to be looked for in a block. */
const bitsPerId = 10;
const probes = 7;

/** Says for a hash that it is surely not in a set, or that it may be (a Bloom filter). */
export class Filter {
  readonly bytes: Buffer;
  readonly #bits: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#bits = bytes.length * 8;
  }

  static for(count: number): Filter {
    return new Filter(Buffer.alloc(Filter.bytesFor(count)));
  }

  static bytesFor(count: number): number {
    return Math.max(64, Math.ceil((count * bitsPerId) / 8));
  }

  add(hash: Buffer, offset = 0): void {
    const start = hash.readUInt32LE(offset + 8);
    const step = hash.readUInt32LE(offset + 12) | 1;
    for (let probe = 0; probe < probes; probe += 1) {
      const bit = (start + probe * (step >>> 0)) % this.#bits;
      this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7));
    }
  }

  mayHave(hash: Buffer): boolean {
    const start = hash.readUInt32LE(8);
    const step = hash.readUInt32LE(12) | 1;
    for (let probe = 0; probe < probes; probe += 1) {
      const bit = (start + probe * (step >>> 0)) % this.#bits;
      if (((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }
}
