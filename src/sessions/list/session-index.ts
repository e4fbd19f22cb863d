import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { appendOnly, openIfThere } from "../../util/files/real-path.js";
import { headOf, indexName, lineText, parseLine } from "./index-file.js";
import { loadIndex } from "./load-index.js";
import type { LoadedIndex } from "./loaded-index.js";
import { readLine } from "./read-line.js";
import { dropLines, rewriteIndex } from "./rewrite-index.js";
import type { SessionLine } from "./session-line.js";
import type { SessionRows } from "./session-rows.js";

/** So long after a document went its line goes from the file: many that go in one moment cost one writing. */
const tidyMs = 1000;

/**
 * The lines of the sessions whose documents are files: one per written document in `.index.jsonl`, the last line of a
 * file counts. Only a cache: documents that it does not know are read, and lines whose document is gone are left out.
 * The lines stay in the file until somebody looks at them.
 */
export class SessionIndex implements AsyncDisposable {
  readonly #dir: string;
  readonly #path: string;
  readonly #log: Logger;
  readonly #isReadOnly: boolean;
  #loading: Promise<LoadedIndex> | undefined;
  #loaded: LoadedIndex | undefined;
  readonly #inOrder = new InOrder();
  /** Sessions whose lines are still in the file. */
  readonly #gone = new Set<string>();
  #tidyTimer: NodeJS.Timeout | undefined;

  /** `isReadOnly`: what the index file misses is found again each time. */
  constructor(dir: string, log: Logger, { isReadOnly = false } = {}) {
    this.#isReadOnly = isReadOnly;
    this.#dir = dir;
    this.#path = join(dir, indexName);
    this.#log = log;
  }

  /** Every document on disk. Reads the index file, and what it misses, on first use. */
  async rows(): Promise<SessionRows> {
    return (await this.#load()).rows;
  }

  /** The logs that no document with a line belongs to, as far as they were there when the index was read: their files. */
  async strayLogs(): Promise<readonly string[]> {
    return (await this.#load()).strayLogs;
  }

  /** The lines of these sessions, in this order; undefined for those that are not there. */
  async lines(keys: readonly string[]): Promise<readonly (SessionLine | undefined)[]> {
    const loaded = await this.#load();
    return await this.#inOrder.run(async () => {
      const { rows, unwritten } = loaded;
      const found = new Map<string, SessionLine>();
      const numbers = new Set<number>();
      for (const key of keys) {
        const number = rows.numberOf(key);
        if (number === undefined) continue;
        const line = unwritten.get(number);
        if (line === undefined) numbers.add(number);
        else found.set(key, line);
      }
      if (numbers.size > 0) await this.#readLines(loaded, numbers, found);
      return keys.map((key) => found.get(key));
    });
  }

  put(line: SessionLine): Promise<void> {
    return this.#inOrder.run(async () => {
      await makeFolder(this.#dir, 0o777);
      const bytes = Buffer.from(lineText(line));
      const offset = await this.#append(bytes);
      const loaded = this.#loaded;
      if (loaded === undefined) return;
      loaded.put(headOf(line), { offset, length: bytes.length });
      if (loaded.hasGrown) await rewriteIndex(this.#path, loaded);
    });
  }

  /** For a session whose document is off the disk. Soon the file says no more of it either. */
  remove(key: string): Promise<void> {
    return this.#inOrder.run(async () => {
      this.#loaded?.remove(key);
      this.#gone.add(key);
      this.#tidyTimer ??= setTimeout(() => void this.#inOrder.run(() => this.#tidy()), tidyMs);
    });
  }

  /** The file says nothing of sessions that are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inOrder.run(() => this.#tidy());
  }

  /** In turn with the lines that are written, so that none is missed. */
  async #load(): Promise<LoadedIndex> {
    this.#loading ??= this.#inOrder.run(async () => {
      this.#loaded = await loadIndex(this.#dir, this.#path, { log: this.#log, isReadOnly: this.#isReadOnly });
      return this.#loaded;
    });
    return await this.#loading;
  }

  /** A line that is damaged, or not written yet, is told from its document. */
  async #readLines(loaded: LoadedIndex, numbers: Set<number>, found: Map<string, SessionLine>): Promise<void> {
    await using file = await openIfThere(this.#path);
    // Without a file, the list knows what is in memory alone.
    const written = file === undefined ? [] : loaded.places.read(file, numbers);
    for await (const { row, bytes } of written) {
      const line = parseLine(bytes);
      if (line?.key !== loaded.rows.keyOf(row)) continue;
      found.set(line.key, line);
      numbers.delete(row);
    }
    for (const number of numbers) {
      const key = loaded.rows.keyOf(number);
      const line = await readLine(this.#dir, loaded.fileOf(key), this.#log);
      if (line?.key === key) found.set(key, line);
    }
  }

  /** Where the line begins. */
  async #append(bytes: Buffer): Promise<number> {
    const file = await open(this.#path, appendOnly, 0o600);
    try {
      const { size } = await file.stat();
      try {
        await file.appendFile(bytes);
      } catch (error) {
        await file.truncate(size);
        throw error;
      }
      return size;
    } finally {
      await file.close();
    }
  }

  async #tidy(): Promise<void> {
    clearTimeout(this.#tidyTimer);
    this.#tidyTimer = undefined;
    if (this.#gone.size === 0) return;
    try {
      if (this.#loaded !== undefined) await rewriteIndex(this.#path, this.#loaded);
      else await dropLines(this.#path, this.#gone);
      this.#gone.clear();
    } catch (error) {
      this.#log.warn(`${this.#path} still holds lines of deleted sessions: the next start takes them out`, { error });
    }
  }
}
