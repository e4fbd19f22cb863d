import { hashOf } from "../../seen-hash.js";
import type { Operation } from "../journal/operations.js";
import type { SealedInfo } from "./format.js";
import type { SealedFile } from "./sealed-file.js";

/** How long the ids of accepted work, and what platforms repeat on redelivery, are remembered. */
export const rememberedMs = 7 * 24 * 60 * 60 * 1000;

/** The ids of what was accepted: the newest in memory and in the journal, the others in sealed files. */
export class SeenIds {
  /** Unix ms by id, oldest first. */
  readonly #recent = new Map<string, number>();
  /** Oldest first. */
  #files: readonly SealedInfo[] = [];
  readonly #open = new Map<string, SealedFile>();
  /** What is wrong with a file, by its name. */
  readonly problems = new Map<string, string>();

  /** Ids that are in no sealed file. */
  get recent(): ReadonlyMap<string, number> {
    return this.#recent;
  }

  get files(): readonly SealedInfo[] {
    return this.#files;
  }

  remember(id: string, at: number): void {
    if (!this.#recent.has(id)) this.#recent.set(id, at);
  }

  restore(ids: Iterable<readonly [string, number]>): void {
    for (const [id, at] of ids) this.#recent.set(id, at);
  }

  has(id: string, now: number): boolean {
    this.#forgetOld(now);
    if (this.#recent.has(id)) return true;
    if (this.#open.size === 0) return false;
    const hash = hashOf(id);
    for (const file of this.#open.values()) {
      const seconds = file.find(hash);
      if (seconds !== undefined && seconds * 1000 > now - rememberedMs) return true;
    }
    return false;
  }

  /** From now on these files count, and no others. */
  replaceFiles(files: readonly SealedInfo[]): void {
    this.#files = files;
    const names = new Set(files.map(({ name }) => name));
    for (const [name, file] of this.#open) {
      if (names.has(name)) continue;
      file.close();
      this.#open.delete(name);
    }
    for (const name of this.problems.keys()) if (!names.has(name)) this.problems.delete(name);
  }

  /** Ids in this file are found, as soon as it counts. */
  attach(file: SealedFile): void {
    this.#open.get(file.info.name)?.close();
    this.#open.set(file.info.name, file);
  }

  opened(name: string): SealedFile | undefined {
    return this.#open.get(name);
  }

  /** These ids are in a sealed file now. */
  letGo(ids: Iterable<string>): void {
    for (const id of ids) this.#recent.delete(id);
  }

  *checkpoint(): Iterable<Operation> {
    if (this.#files.length > 0) yield { o: "sealed", files: [...this.#files] };
    let ids: [string, number][] = [];
    for (const entry of this.#recent) {
      ids.push(entry);
      if (ids.length < 500) continue;
      yield { o: "seen", ids };
      ids = [];
    }
    if (ids.length > 0) yield { o: "seen", ids };
  }

  close(): void {
    for (const file of this.#open.values()) file.close();
    this.#open.clear();
  }

  #forgetOld(now: number): void {
    for (const [id, at] of this.#recent) {
      if (at > now - rememberedMs) break;
      this.#recent.delete(id);
    }
  }
}
