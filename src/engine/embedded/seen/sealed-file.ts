import * as fs from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { hashBytes } from "../../seen-hash.js";
import { Filter } from "./filter.js";
import {
  blockBytes,
  blocksFor,
  decodeHead,
  entriesPerBlock,
  entryAt,
  isBlockWhole,
  prefixOf,
  type SealedHead,
  type SealedInfo,
} from "./format.js";

/** A sealed file that is open for looking ids up. What it holds in memory is its filter and one number for each block. */
export class SealedFile {
  readonly info: SealedInfo;
  readonly path: string;
  readonly #fd: number;
  readonly #firsts: Float64Array;
  readonly #filter: Filter;
  /** Blocks that could not be read. */
  readonly #damaged = new Set<number>();
  readonly #onDamage: (message: string) => void;
  readonly #scratch = Buffer.alloc(blockBytes);

  private constructor(
    info: SealedInfo,
    path: string,
    fd: number,
    tail: { readonly firsts: Float64Array; readonly filter: Filter } | undefined,
    onDamage: (message: string) => void,
  ) {
    this.info = info;
    this.path = path;
    this.#fd = fd;
    this.#onDamage = onDamage;
    this.#firsts = tail?.firsts ?? new Float64Array(blocksFor(info.count));
    this.#filter = tail?.filter ?? Filter.for(info.count);
    if (tail === undefined) this.#readAll();
  }

  /**
   * Opens the file that the journal names. `onDamage` is told about each part that cannot be read; the others count.
   *
   * @throws when it is not there
   */
  static open(folder: string, info: SealedInfo, onDamage: (message: string) => void): SealedFile {
    const path = join(folder, info.name);
    const fd = fs.openSync(path, "r");
    try {
      const head = decodeHead(readAt(fd, 0, blockBytes));
      const isOwn = head !== undefined && head.count === info.count;
      return new SealedFile(info, path, fd, isOwn ? readTail(fd, head) : undefined, onDamage);
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
  }

  get isDamaged(): boolean {
    return this.#damaged.size > 0;
  }

  /** What it holds in memory. */
  get memoryBytes(): number {
    return this.#firsts.byteLength + this.#filter.bytes.length + blockBytes;
  }

  get blocks(): number {
    return this.#firsts.length;
  }

  /** Undefined for a hash that is not in it, else when it was remembered, in Unix seconds. */
  find(hash: Buffer): number | undefined {
    if (!this.#filter.mayHave(hash)) return undefined;
    const prefix = prefixOf(hash);
    let low = 0;
    for (let high = this.#firsts.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((this.#firsts[middle] ?? 0) <= prefix) low = middle + 1;
      else high = middle;
    }
    // Entries with the same prefix may begin in the block before.
    for (let block = low - 1; block >= 0; block -= 1) {
      const found = this.#findIn(block, hash);
      if (found !== undefined || (this.#firsts[block] ?? 0) < prefix) return found;
    }
    return undefined;
  }

  /** Reads a block into `bytes` and returns how many entries it has; undefined when it is damaged, which is told once. */
  readBlock(block: number, bytes: Buffer): number | undefined {
    const length = fs.readSync(this.#fd, bytes, 0, blockBytes, (block + 1) * blockBytes);
    if (length === blockBytes && isBlockWhole(bytes)) return this.#countIn(block);
    if (!this.#damaged.has(block)) {
      this.#damaged.add(block);
      this.#onDamage(
        `${this.path} is damaged in its block ${block + 1} of ${this.blocks}: up to ${entriesPerBlock} of its ${this.info.count} ids of accepted messages are not known any more`,
      );
    }
    return undefined;
  }

  /** Reads everything; what cannot be read is told to `onDamage`. */
  check(): void {
    for (let block = 0; block < this.blocks; block += 1) this.readBlock(block, this.#scratch);
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  #countIn(block: number): number {
    return Math.min(entriesPerBlock, this.info.count - block * entriesPerBlock);
  }

  #findIn(block: number, hash: Buffer): number | undefined {
    const bytes = this.#scratch;
    const count = this.readBlock(block, bytes);
    if (count === undefined) return undefined;
    let low = 0;
    for (let high = count; low < high; ) {
      const middle = (low + high) >>> 1;
      const start = entryAt(middle);
      const order = bytes.compare(hash, 0, hashBytes, start, start + hashBytes);
      if (order === 0) return bytes.readUInt32BE(start + hashBytes);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  /** The head or what is behind the blocks is damaged: both are made again from the blocks. */
  #readAll(): void {
    const bytes = this.#scratch;
    for (let block = 0; block < this.blocks; block += 1) {
      const count = this.readBlock(block, bytes);
      // Nothing is looked for in a damaged block: it gets the place of the one before it.
      this.#firsts[block] = count === undefined ? (this.#firsts[block - 1] ?? 0) : prefixOf(bytes, entryAt(0));
      for (let index = 0; index < (count ?? 0); index += 1) this.#filter.add(bytes, entryAt(index));
    }
  }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, position));
}

/** What is behind the blocks; undefined when it is damaged. */
function readTail(fd: number, head: SealedHead): { firsts: Float64Array; filter: Filter } | undefined {
  const blocks = blocksFor(head.count);
  const start = (blocks + 1) * blockBytes;
  const firsts = new Float64Array(blocks);
  const firstBytes = Buffer.from(firsts.buffer);
  if (fs.readSync(fd, firstBytes, 0, firstBytes.length, start) !== firstBytes.length && blocks > 0) return undefined;
  const filter = readAt(fd, start + firstBytes.length, head.filterBytes);
  if (filter.length !== head.filterBytes || crc32(filter, crc32(firstBytes)) !== head.tail) return undefined;
  return { firsts, filter: new Filter(filter) };
}
