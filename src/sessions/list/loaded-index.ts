import { documentSuffix } from "../file-names.js";
import { headOf, keyOfPlainFile, plainFile } from "./index-file.js";
import type { IndexLine, LineHead } from "./index-line.js";
import { LinePlaces } from "./line-places.js";
import type { SessionLine } from "./session-line.js";
import { SessionRows } from "./session-rows.js";

/** Where a line is in the file. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

/** What is known about an index file: which sessions it tells about, and where in it. */
export class LoadedIndex {
  readonly rows = new SessionRows();
  places = new LinePlaces();
  /** Lines that are not in the file, by row. */
  readonly unwritten = new Map<number, SessionLine>();
  strayLogs: readonly string[] = [];
  /** Files whose names do not tell the key, both ways. */
  readonly #oddFiles = new Map<string, string>();
  readonly #oddKeys = new Map<string, string>();
  /** Lines in the file. */
  #written = 0;

  get hasGrown(): boolean {
    return this.#written > 2 * this.rows.size + 1000;
  }

  put(head: LineHead, { offset, length }: Place): void {
    this.#written += 1;
    const row = this.#note(head);
    this.unwritten.delete(row);
    this.places.set(row, offset, length);
  }

  /** A line as most are, without making strings of it. False where it is not: then `put` takes it. */
  putPlain({ isPlain, piece, start, keyStart, keyEnd, at, lastSequence, offset, length }: IndexLine): boolean {
    if (!isPlain) return false;
    const key = { bytes: piece, from: start + keyStart, to: keyEnd };
    if (this.#oddKeys.size > 0 && this.#oddKeys.has(piece.toString("latin1", key.from, key.to))) return false;
    this.#written += 1;
    const row = this.rows.setBytes(key, at, lastSequence);
    this.unwritten.delete(row);
    this.places.set(row, offset, length);
    return true;
  }

  /** A line that the file lacks. */
  add(line: SessionLine): void {
    this.unwritten.set(this.#note(headOf(line)), line);
  }

  remove(key: string): void {
    const row = this.rows.delete(key);
    if (row !== undefined) this.unwritten.delete(row);
    this.#oddFiles.delete(this.#oddKeys.get(key) ?? "");
    this.#oddKeys.delete(key);
  }

  rewritten(places: LinePlaces): void {
    this.places = places;
    this.unwritten.clear();
    this.#written = this.rows.size;
  }

  /** A line that does not count: the file is longer for it. */
  skip(): void {
    this.#written += 1;
  }

  /** The document's file. */
  fileOf(key: string): string {
    return this.#oddKeys.get(key) ?? plainFile(key) ?? "";
  }

  /**
   * The row of the session whose document is `file`, which is a name in the folder without its last `more` letters and with `.json`. Most
   * are found without making a string.
   */
  rowOfName(name: string, more: number): number | undefined {
    const length = name.length - more;
    const row = this.#oddKeys.size === 0 ? this.rows.numberOfFile(name, length) : undefined;
    return row ?? this.rowOfFile(`${name.slice(0, length)}${documentSuffix}`);
  }

  /** The row of the session whose document this file is, as far as lines tell. */
  rowOfFile(file: string): number | undefined {
    const odd = this.#oddFiles.get(file);
    if (odd !== undefined) return this.rows.numberOf(odd);
    const key = keyOfPlainFile(file);
    return key === undefined || this.#oddKeys.has(key) ? undefined : this.rows.numberOf(key);
  }

  #note({ key, file, at, lastSequence }: LineHead): number {
    this.#oddFiles.delete(this.#oddKeys.get(key) ?? "");
    if (plainFile(key) === file) this.#oddKeys.delete(key);
    else {
      this.#oddKeys.set(key, file);
      this.#oddFiles.set(file, key);
    }
    return this.rows.set({ key, at, lastSequence });
  }
}
