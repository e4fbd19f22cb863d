import { type Cursor, cursorLine, encodedKey, type Line } from "./line.js";
import { isUndone, type Undone } from "./news.js";
import type { SearchFile } from "./search-file.js";

/** A file with less in it that counts no more is not written again for that. */
const leastDeadBytes = 1024 * 1024;

/** What of all conversations is in the file of the search, and up to where. Its methods are called one at a time. */
export class SearchLines {
  readonly #file: SearchFile;
  #cursors: Map<string, Cursor> | undefined;
  /** Of the file, as far as it was written here. */
  #bytes = 0;
  #isWhole = false;
  /** Of lines that count no more. */
  #dead = 0;

  constructor(file: SearchFile) {
    this.#file = file;
  }

  /** Every session was read since this began. False again once the file was damaged, or changed by others. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  noteWhole(): void {
    this.#isWhole = true;
  }

  /** Up to where each session is in the file. A file that is damaged, or of another form, is begun again. */
  async open(): Promise<ReadonlyMap<string, Cursor>> {
    const isSame = this.#bytes > 0 && (await this.#file.size()) === this.#bytes;
    if (!isSame) this.#isWhole = false;
    if (isSame && this.#cursors !== undefined) return this.#cursors;
    this.#cursors = await this.#readAll();
    return this.#cursors;
  }

  async #readAll(): Promise<Map<string, Cursor>> {
    await this.#file.removeUnfinished();
    const cursors = new Map<string, Cursor>();
    const sizes = new Map<string, number>();
    let isDamaged = false;
    let end = 0;
    this.#dead = 0;
    await this.#file.eachLine((line, offset) => {
      const length = line.end - line.start + 1;
      if (line.type === "blank") this.#dead += length;
      if (line.type === "other" || line.hasZeros) isDamaged = true;
      if (line.type !== "cursor") return;
      end = offset + length;
      try {
        const { key, ...cursor } = line.cursor();
        isDamaged ||= !Number.isSafeInteger(cursor.seq) || !Number.isSafeInteger(cursor.mark);
        this.#dead += sizes.get(key) ?? 0;
        sizes.set(key, length);
        cursors.set(key, cursor);
      } catch {
        isDamaged = true;
      }
    });
    if (isDamaged) {
      cursors.clear();
      this.#dead = 0;
      this.#isWhole = false;
    }
    // What is behind the last cursor was cut off by a kill.
    await this.#file.trim(isDamaged ? undefined : end);
    this.#bytes = (await this.#file.size()) ?? 0;
    return cursors;
  }

  async cursorOf(key: string): Promise<Cursor | undefined> {
    return (this.#cursors ?? (await this.open())).get(key);
  }

  /** What is in the file need not stay in memory. */
  release(): void {
    this.#cursors = undefined;
  }

  /** In one step: a kill leaves all of it or nothing. */
  async add(key: string, lines: string, cursor: Cursor): Promise<void> {
    const cursors = this.#cursors ?? new Map<string, Cursor>();
    const old = cursors.get(key);
    if (old !== undefined) this.#dead += cursorLine(key, old).length;
    const text = lines + cursorLine(key, cursor);
    try {
      await this.#file.append(text);
    } catch (error) {
      // A part of it may be there: it goes when the file is read again.
      this.#cursors = undefined;
      throw error;
    }
    this.#bytes += Buffer.byteLength(text);
    cursors.set(key, cursor);
  }

  async dropUndone(key: string, undone: Undone): Promise<void> {
    if (undone.seqs.size === 0 && undone.messageIds.size === 0) return;
    const encoded = Buffer.from(encodedKey(key));
    await this.#drop((line) => {
      if (line.type !== "text" || !line.hasKey(encoded)) return false;
      const { seq, messageId } = line.place();
      return isUndone(undone, seq, messageId);
    });
  }

  /** All of a session, and of those below it. */
  async dropSession(key: string): Promise<void> {
    await this.#file.removeUnfinished();
    const encoded = Buffer.from(encodedKey(key));
    await this.#drop(
      (line) =>
        (line.type === "text" || line.type === "cursor") && (line.hasKey(encoded) || line.hasKey(encoded, ":spawn:")),
    );
    for (const each of this.#cursors?.keys() ?? [])
      if (each === key || each.startsWith(`${key}:spawn:`)) this.#cursors?.delete(each);
  }

  /** Writes the file again when most of it counts no more. */
  async tidy(): Promise<void> {
    const cursors = this.#cursors;
    if (cursors === undefined || this.#dead < leastDeadBytes || this.#dead < this.#bytes / 2) return;
    await this.#file.rewrite((line) => line.type === "text" || (line.type === "cursor" && isNewest(line, cursors)));
    this.#bytes = (await this.#file.size()) ?? 0;
    this.#dead = 0;
  }

  async #drop(isUnwanted: (line: Line) => boolean): Promise<void> {
    const stretches: { from: number; to: number }[] = [];
    await this.#file.eachLine((line, offset) => {
      if (!isUnwanted(line)) return;
      stretches.push({ from: offset, to: offset + line.end - line.start });
    });
    await this.#file.blank(stretches);
    for (const { from, to } of stretches) this.#dead += to - from + 1;
  }
}

function isNewest(line: Line, cursors: ReadonlyMap<string, Cursor>): boolean {
  const { key, seq } = line.cursor();
  return cursors.get(key)?.seq === seq;
}
