import * as fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { codeOf, withPath } from "../../../util/error-code.js";
import { openPlain } from "../../../util/files/real-path.js";

/** What a walk reads at once where it does not go through a whole file. */
export const chunkBytes = 64 * 1024;
const pieceBytes = 1024 * 1024;
const lineFeed = 0x0a;

interface ReadRequest {
  readonly position: number;
  /** To be filled from its beginning. */
  readonly into: Buffer;
}

/** A way through a file, told as the reads it needs, each answered with the number of bytes that came: run it with blocking reads or without. */
export type Reading<T> = Generator<ReadRequest, T, number>;

export function runBlocking<T>(fd: number, reading: Reading<T>): T {
  let step = reading.next();
  while (!step.done) step = reading.next(readSync(fd, step.value));
  return step.value;
}

export async function run<T>(file: FileHandle, reading: Reading<T>): Promise<T> {
  let step = reading.next();
  while (!step.done) {
    const { position, into } = step.value;
    const { bytesRead } = await file.read(into, 0, into.length, position);
    step = reading.next(bytesRead);
  }
  return step.value;
}

function readSync(fd: number, { position, into }: ReadRequest): number {
  return fs.readSync(fd, into, 0, into.length, position);
}

/** A line with its LF, where it has one. */
export interface Line {
  readonly start: number;
  readonly end: number;
  /** Void after the next step. */
  readonly bytes: Buffer;
}

export interface FileToWalk {
  /** Asked again at each read: the file may grow meanwhile. */
  readonly size: () => number;
  /** How much is read at once. */
  readonly pieceBytes?: number | undefined;
}

/** The lines of a file from an offset on, forward and back. What was read is kept for as long as it lies ahead. */
export class LineWalk {
  readonly #file: FileToWalk;
  /** Used again for each read. */
  #room: Buffer = Buffer.alloc(0);
  /** Part of the file. */
  #bytes: Buffer = this.#room;
  /** Where in the file they begin. */
  #from: number;
  /** How far the walk has come in them. */
  #at = 0;
  /** In front of this there is no LF. */
  #searched = 0;

  constructor(start: number, file: FileToWalk) {
    this.#from = start;
    this.#file = file;
  }

  /** The next line; at the end also one without an LF. */
  *next(): Reading<Line | undefined> {
    for (;;) {
      const line = this.#nextRead();
      if (line !== undefined) return line;
      if (!(yield* this.#readOn())) return this.#rest();
    }
  }

  /** The line before; the first one, when nothing is left in front of it, begins where the file does. */
  *previous(): Reading<Line | undefined> {
    for (;;) {
      const line = this.previousRead();
      if (line !== undefined) return line;
      if (this.#from === 0) return undefined;
      yield* this.#readBack();
    }
  }

  /** The line before, if it needs no more reading. */
  previousRead(): Line | undefined {
    const lf = this.#at < 2 ? -1 : this.#bytes.lastIndexOf(lineFeed, this.#at - 2);
    if (this.#at === 0 || (lf === -1 && this.#from > 0)) return undefined;
    return this.#take(lf + 1, this.#at, lf + 1);
  }

  /** All lines to the end, without a generator for each. */
  *each(onLine: (line: Line) => void): Reading<void> {
    do for (let line = this.#nextRead(); line !== undefined; line = this.#nextRead()) onLine(line);
    while (yield* this.#readOn());
    const rest = this.#rest();
    if (rest !== undefined) onLine(rest);
  }

  #nextRead(): Line | undefined {
    const lf = this.#bytes.indexOf(lineFeed, Math.max(this.#at, this.#searched));
    if (lf === -1) return undefined;
    return this.#take(this.#at, lf + 1, lf + 1);
  }

  #rest(): Line | undefined {
    const { length } = this.#bytes;
    return this.#at === length ? undefined : this.#take(this.#at, length, length);
  }

  #take(start: number, end: number, at: number): Line {
    this.#at = at;
    this.#searched = 0;
    return { start: this.#from + start, end: this.#from + end, bytes: this.#bytes.subarray(start, end) };
  }

  /** False at the end of the file. */
  *#readOn(): Reading<boolean> {
    const rest = this.#bytes.subarray(this.#at);
    const position = this.#from + this.#bytes.length;
    const length = Math.min(this.#file.size() - position, this.#stepFrom(rest.length));
    if (length <= 0) return false;
    if (this.#room.length < rest.length + length) this.#room = Buffer.allocUnsafe(rest.length + length);
    // Copies what lies ahead to the front, also where both are the same memory.
    this.#room.set(rest);
    const read = yield { position, into: this.#room.subarray(rest.length, rest.length + length) };
    this.#from += this.#at;
    this.#at = 0;
    this.#searched = rest.length;
    this.#bytes = this.#room.subarray(0, rest.length + read);
    return read > 0;
  }

  *#readBack(): Reading<void> {
    const rest = this.#bytes.subarray(0, this.#at);
    const length = Math.min(this.#from, this.#stepFrom(rest.length));
    const bytes = Buffer.allocUnsafe(length + rest.length);
    bytes.set(rest, length);
    const into = bytes.subarray(0, length);
    for (let read = 0; read < length; ) {
      const more = yield { position: this.#from - length + read, into: into.subarray(read) };
      if (more === 0) throw new Error("the file became shorter while it was read");
      read += more;
    }
    this.#from -= length;
    this.#at = bytes.length;
    this.#room = bytes;
    this.#bytes = bytes;
    this.#searched = 0;
  }

  /** A line that is longer than a piece is read in pieces that double. */
  #stepFrom(kept: number): number {
    return Math.max(this.#file.pieceBytes ?? chunkBytes, kept);
  }
}

/** A file that is open to be read; undefined when there is none. @throws also for a pipe or a device in its place */
export function openIfThere(path: string): number | undefined {
  try {
    return openPlain(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Calls back with each line of the first `size` bytes of a file. Does nothing when there is no such file. */
export function eachLineNow(path: string, size: number, onLine: (bytes: Buffer) => void): void {
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    const walk = new LineWalk(0, { size: () => size, pieceBytes });
    const reading = walk.each(({ bytes }) => onLine(bytes));
    withPath(path, () => runBlocking(fd, reading));
  } finally {
    fs.closeSync(fd);
  }
}

/**
 * Calls back with each line of a file, its LF included where it has one, reading a piece at a time; the bytes are the
 * caller's during the call only. Does nothing when there is no such file. Reads without the detour of a stream, which
 * for a hundred thousand small files takes most of the time, and lets others go on after each piece.
 */
export async function eachLine(
  path: string,
  onLine: (bytes: Buffer, place: { readonly line: number; readonly byte: number }) => void,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  // Its session may have been deleted meanwhile.
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    let line = 0;
    const walk = new LineWalk(0, { size: () => fs.fstatSync(fd).size, pieceBytes });
    const reading = walk.each(({ start, bytes }) => {
      line += 1;
      onLine(bytes, { line, byte: start });
    });
    for (let step = reading.next(); !step.done; ) {
      const request = step.value;
      step = reading.next(withPath(path, () => readSync(fd, request)));
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    }
  } finally {
    fs.closeSync(fd);
  }
}
