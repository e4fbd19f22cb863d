import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { hashBytes } from "../../seen-hash.js";
import { Filter } from "./filter.js";
import {
  blockBytes,
  blocksFor,
  encodeHead,
  entriesPerBlock,
  entryAt,
  prefixOf,
  type SealedInfo,
  sealBlock,
  sealedName,
} from "./format.js";

const fsync = promisify(fs.fsync);
const blocksPerWrite = 64;

/** Writes one sealed file. Its entries come in the order of their hashes, each hash once. */
export class SealedWriter {
  readonly #folder: string;
  readonly #name: string;
  readonly #fd: number;
  readonly #filter: Filter;
  readonly #firsts: Float64Array;
  readonly #out = Buffer.alloc(blocksPerWrite * blockBytes);
  #blocks = 0;
  #inBlock = 0;
  #count = 0;
  #seconds = 0;
  /** Behind the last byte that was written; the head's place is kept free. */
  #end = blockBytes;

  /** `most`: how many entries there may be. */
  constructor(folder: string, number: number, most: number) {
    this.#folder = folder;
    this.#name = sealedName(number);
    this.#filter = Filter.for(most);
    this.#firsts = new Float64Array(blocksFor(most));
    makeFolderSync(folder);
    this.#fd = fs.openSync(this.#unfinished, "w", 0o600);
  }

  /** `seconds`: when the id was remembered, Unix time. */
  add(bytes: Buffer, offset: number, seconds: number): void {
    if (this.#inBlock === 0) this.#firsts[this.#blocks] = prefixOf(bytes, offset);
    const start = (this.#blocks % blocksPerWrite) * blockBytes + entryAt(this.#inBlock);
    bytes.copy(this.#out, start, offset, offset + hashBytes);
    this.#out.writeUInt32BE(seconds, start + hashBytes);
    this.#filter.add(bytes, offset);
    this.#seconds = Math.max(this.#seconds, seconds);
    this.#count += 1;
    this.#inBlock += 1;
    if (this.#inBlock === entriesPerBlock) this.#endBlock();
  }

  /** Resolves once the file is on the disk, under its name. Undefined when nothing was added: then there is no file. */
  async finish(): Promise<SealedInfo | undefined> {
    try {
      if (this.#inBlock > 0) this.#endBlock();
      this.#writeBlocks(this.#blocks % blocksPerWrite);
      const info = { name: this.#name, count: this.#count, until: this.#seconds * 1000 };
      const firsts = Buffer.from(this.#firsts.buffer, 0, this.#blocks * 8);
      const filter = this.#filter.bytes;
      const tail = crc32(filter, crc32(firsts));
      this.#write(firsts);
      this.#write(filter);
      fs.writeSync(this.#fd, encodeHead({ ...info, filterBytes: filter.length, tail }), 0, blockBytes, 0);
      if (this.#count > 0) await fsync(this.#fd);
      fs.closeSync(this.#fd);
      if (this.#count === 0) {
        fs.rmSync(this.#unfinished, { force: true });
        return undefined;
      }
      fs.renameSync(this.#unfinished, join(this.#folder, this.#name));
      await syncPath(this.#folder);
      await syncPath(join(this.#folder, ".."));
      return info;
    } catch (error) {
      fs.rmSync(this.#unfinished, { force: true });
      throw error;
    }
  }

  /** Nothing is left of it. */
  abandon(): void {
    fs.closeSync(this.#fd);
    fs.rmSync(this.#unfinished, { force: true });
  }

  get #unfinished(): string {
    return join(this.#folder, `${this.#name}.tmp`);
  }

  #endBlock(): void {
    const start = (this.#blocks % blocksPerWrite) * blockBytes;
    this.#out.fill(0, start + entryAt(this.#inBlock), start + blockBytes);
    sealBlock(this.#out.subarray(start, start + blockBytes));
    this.#blocks += 1;
    this.#inBlock = 0;
    if (this.#blocks % blocksPerWrite === 0) this.#writeBlocks(blocksPerWrite);
  }

  #writeBlocks(count: number): void {
    this.#write(this.#out.subarray(0, count * blockBytes));
  }

  #write(bytes: Buffer): void {
    for (let done = 0; done < bytes.length; )
      done += fs.writeSync(this.#fd, bytes, done, bytes.length - done, this.#end + done);
    this.#end += bytes.length;
  }
}
