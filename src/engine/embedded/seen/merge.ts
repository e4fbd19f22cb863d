import { hashBytes } from "../../seen-hash.js";
import { blockBytes, entryAt, prefixOf, type SealedInfo } from "./format.js";
import type { SealedFile } from "./sealed-file.js";
import { SealedWriter } from "./sealed-writer.js";
import { Slices } from "./slices.js";

/** Looked at as often as this whether the slice is over. */
const entriesPerLook = 256;

/**
 * Writes one file from several, without what was remembered before `since`. Undefined when nothing is left of them.
 *
 * @throws when a block of one of them is damaged
 */
export async function mergeFiles(
  folder: string,
  number: number,
  files: readonly SealedFile[],
  options: { readonly since: number; readonly signal: AbortSignal },
): Promise<SealedInfo | undefined> {
  const slices = new Slices(options.signal);
  const writer = new SealedWriter(
    folder,
    number,
    files.reduce((sum, { info }) => sum + info.count, 0),
  );
  try {
    const cursors = files.map((file) => new Cursor(file)).filter((cursor) => cursor.isAtEntry);
    for (let taken = 0; cursors.length > 0; taken += 1) {
      const lowest = lowestOf(cursors);
      if (lowest === undefined) break;
      takeEntry(writer, lowest, cursors, options.since);
      if (taken % entriesPerLook === 0 && slices.isOver()) await slices.next();
    }
  } catch (error) {
    writer.abandon();
    throw error;
  }
  return await writer.finish();
}

/** Adds the entry at this cursor, and moves all that are at the same one. */
function takeEntry(writer: SealedWriter, lowest: Cursor, cursors: Cursor[], since: number): void {
  const { bytes, offset } = lowest;
  let seconds = 0;
  for (let index = cursors.length - 1; index >= 0; index -= 1) {
    const cursor = cursors[index];
    if (cursor === undefined || (cursor !== lowest && cursor.compare(lowest) !== 0)) continue;
    if (cursor === lowest) continue;
    seconds = Math.max(seconds, cursor.seconds);
    cursor.move();
    if (!cursor.isAtEntry) cursors.splice(index, 1);
  }
  seconds = Math.max(seconds, lowest.seconds);
  if (seconds * 1000 > since) writer.add(bytes, offset, seconds);
  lowest.move();
  if (!lowest.isAtEntry) cursors.splice(cursors.indexOf(lowest), 1);
}

function lowestOf(cursors: readonly Cursor[]): Cursor | undefined {
  let lowest = cursors[0];
  for (const cursor of cursors) if (lowest !== undefined && cursor.compare(lowest) < 0) lowest = cursor;
  return lowest;
}

/** A place among the entries of a file. */
class Cursor {
  readonly #file: SealedFile;
  #block = -1;
  #index = 0;
  #count = 0;
  #prefix = 0;
  readonly bytes = Buffer.alloc(blockBytes);
  isAtEntry = false;

  constructor(file: SealedFile) {
    this.#file = file;
    this.move();
  }

  get offset(): number {
    return entryAt(this.#index);
  }

  get seconds(): number {
    return this.bytes.readUInt32BE(this.offset + hashBytes);
  }

  move(): void {
    this.#index += 1;
    if (this.#index >= this.#count) this.#nextBlock();
    if (this.isAtEntry) this.#prefix = prefixOf(this.bytes, this.offset);
  }

  compare(other: Cursor): number {
    if (this.#prefix !== other.#prefix) return this.#prefix - other.#prefix;
    const { offset } = other;
    return this.bytes.compare(other.bytes, offset, offset + hashBytes, this.offset, this.offset + hashBytes);
  }

  #nextBlock(): void {
    this.#block += 1;
    this.isAtEntry = this.#block < this.#file.blocks;
    if (!this.isAtEntry) return;
    const count = this.#file.readBlock(this.#block, this.bytes);
    if (count === undefined) throw new Error(`${this.#file.path} is damaged: it stays as it is until its ids are old`);
    this.#count = count;
    this.#index = 0;
  }
}
