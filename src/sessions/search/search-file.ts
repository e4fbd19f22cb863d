import { constants } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../../util/error-code.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { Line, lf } from "./line.js";

/** The file's first line. A file of another form counts as none. */
const heading = "maxclaw-search 1\n";
const pieceBytes = 2 * 1024 * 1024;
/** A line's fields before its text are shorter. */
const headBytes = 16 * 1024;

/** Lines without their gaps, and where they are in the file. */
interface Piece {
  readonly bytes: Buffer;
  readonly offset: number;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

export interface Reading {
  /** The whole lines of the file, without its first one. Nothing where there is no file, or one of another form. */
  pieces(): AsyncIterable<Piece>;
  /** What begins there, as much as a line has before its text. */
  headAt(offset: number): Promise<Buffer>;
}

/**
 * A file of lines that grows at its end. What is taken out of it is written over with blanks at once, and leaves the file
 * when that is written again. Whole pieces of it are read, so that other work goes on in between.
 */
export class SearchFile {
  readonly #path: string;
  readonly #pieceBytes: number;

  constructor(path: string, bytes: number = pieceBytes) {
    this.#path = path;
    this.#pieceBytes = bytes;
  }

  /** Reads the file as it is now, whatever is put in its place meanwhile. */
  async read<T>(use: (reading: Reading) => Promise<T>): Promise<T> {
    await using file = await this.#open("r");
    return await use({
      pieces: () => this.#pieces(file),
      async headAt(offset) {
        const { buffer, bytesRead = 0 } = (await file?.read(Buffer.alloc(headBytes), 0, headBytes, offset)) ?? {};
        return buffer?.subarray(0, bytesRead) ?? Buffer.alloc(0);
      },
    });
  }

  async *#pieces(file: FileHandle | undefined): AsyncGenerator<Piece> {
    if (file === undefined) return;
    let buffer: Buffer = Buffer.allocUnsafe(this.#pieceBytes);
    let kept = 0;
    for (let at = 0, isFirst = true; ; ) {
      const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, at + kept);
      const filled = kept + bytesRead;
      const end = buffer.lastIndexOf(lf, filled - 1) + 1;
      if (bytesRead === 0) return;
      if (end === 0) {
        // One line that is longer than all.
        if (filled === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
        kept = filled;
        continue;
      }
      const skipped = isFirst ? heading.length : 0;
      if (isFirst && buffer.toString("latin1", 0, heading.length) !== heading) return;
      isFirst = false;
      yield { bytes: buffer.subarray(skipped, end), offset: at + skipped };
      kept = filled - end;
      buffer.copy(buffer, 0, end, filled);
      at += end;
    }
  }

  /** Calls back with each line; the same object shows each in turn. */
  async eachLine(visit: (line: Line, offset: number) => void): Promise<void> {
    const line = new Line();
    await this.read(async ({ pieces }) => {
      for await (const { bytes, offset } of pieces()) {
        for (let start = 0; start < bytes.length; ) {
          const end = bytes.indexOf(lf, start);
          visit(line.stand(bytes, start, end), offset + start);
          start = end + 1;
        }
      }
    });
  }

  /** Where the file is whole up to its `end`, what is behind it goes. Begins a new file where there is none of this form. */
  async trim(end: number | undefined): Promise<void> {
    if (end !== undefined && end > 0) {
      await using file = await this.#open("r+");
      if (file !== undefined && (await file.stat()).size > end) await file.truncate(end);
      return;
    }
    await makeFolder(dirname(this.#path));
    await using file = await open(this.#path, "w", 0o600);
    await file.writeFile(heading);
  }

  async append(lines: string): Promise<void> {
    // A file that somebody has deleted is not begun here: it would have no first line.
    await using file = await open(this.#path, constants.O_WRONLY | constants.O_APPEND);
    await file.writeFile(lines);
  }

  /** Undefined when there is no file. */
  async size(): Promise<number | undefined> {
    await using file = await this.#open("r");
    return file === undefined ? undefined : (await file.stat()).size;
  }

  /** Writes blanks over these lines. Resolves once they are gone from the disk. */
  async blank(stretches: readonly Stretch[]): Promise<void> {
    if (stretches.length === 0) return;
    await using file = await this.#open("r+");
    if (file === undefined) return;
    for (const { from, to } of stretches) await file.write(Buffer.alloc(to - from, " "), 0, to - from, from);
    await file.datasync();
  }

  /** Writes the file again with those lines alone that are wanted. */
  async rewrite(isWanted: (line: Line) => boolean): Promise<void> {
    const beside = `${this.#path}.new`;
    const line = new Line();
    try {
      await using file = await open(beside, "w", 0o600);
      await file.writeFile(heading);
      await this.read(async ({ pieces }) => {
        for await (const { bytes } of pieces()) {
          const wanted: Buffer[] = [];
          for (let start = 0; start < bytes.length; ) {
            const end = bytes.indexOf(lf, start);
            if (isWanted(line.stand(bytes, start, end))) wanted.push(bytes.subarray(start, end + 1));
            start = end + 1;
          }
          await file.writeFile(Buffer.concat(wanted));
        }
      });
      await file.datasync();
      await rename(beside, this.#path);
    } catch (error) {
      await this.removeUnfinished();
      throw error;
    }
  }

  /** What a kill has left of writing the file again. */
  async removeUnfinished(): Promise<void> {
    await rm(`${this.#path}.new`, { force: true });
  }

  async #open(flags: "r" | "r+"): Promise<FileHandle | undefined> {
    try {
      return await open(this.#path, flags);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }
}
