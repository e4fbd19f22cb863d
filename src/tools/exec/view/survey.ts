import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import path from "node:path";

/** A regular file as it was when its folder was read. */
export interface SurveyedFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
}

/** What may be shown below some places. All paths are absolute and real; a folder comes before what is in it. */
export interface Survey {
  readonly folders: readonly string[];
  readonly files: readonly SurveyedFile[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Names of entries that are left out because there is too much to look through. */
  readonly tooLarge: readonly string[];
}

interface Found {
  readonly folders: string[];
  readonly files: SurveyedFile[];
  readonly links: { path: string; target: string }[];
}

interface Entry {
  readonly name: string;
  readonly is: "folder" | { readonly dev: number; readonly ino: number } | { readonly target: string };
}

interface ReadFolder {
  readonly stamp: string;
  readonly entries: readonly Entry[];
}

/** Two changes within this time may leave the same time stamp on a folder. */
const stampMs = 2000;
/** Remembered of all folders together. */
const maxRemembered = 200_000;
const atOnce = 64;

/**
 * Looks through folders and asks about each entry. A folder is read again only when it has changed; about what is in it
 * is asked each time.
 */
export class Surveyor {
  readonly #read = new Map<string, ReadFolder>();
  #remembered = 0;

  /**
   * What is in a folder. An entry of it is left out with all that is in it when that brings the number of entries over
   * the limit.
   */
  async look(root: string, isShown: (target: string) => boolean, maxEntries: number): Promise<Survey> {
    const all: Found = { folders: [], files: [], links: [] };
    const tooLarge: string[] = [];
    let left = maxEntries;
    for (const entry of await this.#entriesOf(root)) {
      const found: Found = { folders: [], files: [], links: [] };
      const looked = await this.#walk(root, entry, isShown, left, found);
      if (looked > left) {
        tooLarge.push(entry.name);
        continue;
      }
      left -= looked;
      for (const one of found.folders) all.folders.push(one);
      for (const one of found.files) all.files.push(one);
      for (const one of found.links) all.links.push(one);
    }
    return { ...all, tooLarge };
  }

  /** How many entries it has looked at: more than `limit` when it has given up. */
  async #walk(
    root: string,
    first: Entry,
    isShown: (target: string) => boolean,
    limit: number,
    found: Found,
  ): Promise<number> {
    let looked = 0;
    const waiting: string[] = [];
    const take = (folder: string, entries: readonly Entry[]): void => {
      for (const { name, is } of entries) {
        looked += 1;
        if (looked > limit) return;
        const full = path.join(folder, name);
        if (!isShown(full)) continue;
        if (is === "folder") {
          found.folders.push(full);
          waiting.push(full);
        } else if ("target" in is) found.links.push({ path: full, target: is.target });
        else found.files.push({ path: full, ...is });
      }
    };
    take(root, [first]);
    while (waiting.length > 0 && looked <= limit) {
      const folders = waiting.splice(-atOnce);
      const read = await Promise.all(folders.map((folder) => this.#entriesOf(folder)));
      for (const [index, folder] of folders.entries()) take(folder, read[index] ?? []);
    }
    return looked;
  }

  /** A folder that we may not look into shows nothing to a command either. */
  async #entriesOf(folder: string): Promise<readonly Entry[]> {
    try {
      const now = Date.now();
      const stats = await lstat(folder);
      const stamp = `${stats.dev} ${stats.ino} ${stats.mtimeMs} ${stats.ctimeMs}`;
      const known = this.#read.get(folder);
      if (known?.stamp === stamp) return known.entries;
      const entries = stats.isDirectory() ? await readEntries(folder) : [];
      this.#forget(folder);
      if (Math.max(stats.mtimeMs, stats.ctimeMs) < now - stampMs) this.#remember(folder, { stamp, entries });
      return entries;
    } catch {
      this.#forget(folder);
      return [];
    }
  }

  #remember(folder: string, read: ReadFolder): void {
    this.#remembered += read.entries.length + 1;
    if (this.#remembered > maxRemembered) {
      this.#read.clear();
      this.#remembered = read.entries.length + 1;
    }
    this.#read.set(folder, read);
  }

  #forget(folder: string): void {
    const known = this.#read.get(folder);
    if (known === undefined) return;
    this.#remembered -= known.entries.length + 1;
    this.#read.delete(folder);
  }
}

async function readEntries(folder: string): Promise<readonly Entry[]> {
  const names = await readdir(folder, { withFileTypes: true });
  const entries: Entry[] = [];
  for (let at = 0; at < names.length; at += atOnce) {
    const some = await Promise.all(names.slice(at, at + atOnce).map((one) => entryOf(folder, one)));
    for (const one of some) if (one !== undefined) entries.push(one);
  }
  return entries;
}

/** Pipes, sockets and devices are nothing that is shown. */
async function entryOf(folder: string, entry: Dirent): Promise<Entry | undefined> {
  const { name } = entry;
  if (entry.isDirectory()) return { name, is: "folder" };
  const full = path.join(folder, name);
  if (entry.isSymbolicLink()) {
    const target = await readlink(full).catch(() => undefined);
    return target === undefined ? undefined : { name, is: { target } };
  }
  if (!entry.isFile()) return undefined;
  const stats: Stats | undefined = await lstat(full).catch(() => undefined);
  return stats?.isFile() === true ? { name, is: { dev: stats.dev, ino: stats.ino } } : undefined;
}
