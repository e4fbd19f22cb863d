import * as fs from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { namesIn, numberOf, type SealedInfo } from "./format.js";
import { mergeFiles } from "./merge.js";
import { openSealed } from "./open-sealed.js";
import { sealIds } from "./seal.js";
import type { SealedFile } from "./sealed-file.js";
import { rememberedMs, type SeenIds } from "./seen-ids.js";

/** Fewer ids than this stay in the journal. */
const sealAtLeast = 4096;
/** So many files of about the same size become one. */
const mergeAtOnce = 8;

interface SeenKeeperOptions {
  readonly ids: SeenIds;
  /** Where the sealed files are. */
  readonly folder: string;
  readonly log: Logger;
  readonly now: () => number;
  readonly boundary: (name: string) => void;
  /** Makes it durable which files count. */
  readonly note: (files: readonly SealedInfo[]) => Promise<void>;
  /** Default 4096. */
  readonly sealAtLeast?: number | undefined;
}

/** Moves ids of accepted work from the journal into sealed files, makes few large ones of many small ones, and lets go of old ones. */
export class SeenKeeper {
  readonly #options: SeenKeeperOptions;
  readonly #stopping = new AbortController();
  #lastNumber: number;

  constructor(options: SeenKeeperOptions) {
    this.#options = options;
    this.#lastNumber = Math.max(0, ...namesIn(options.folder).map((name) => numberOf(name) ?? 0));
  }

  /**
   * Writes the ids that are in no file yet into one, if they are many. What is returned is to be called when a checkpoint
   * is made: from then on the ids count as being in that file. Files with old ids alone are left out from then on.
   */
  async seal(): Promise<() => void> {
    const { ids, boundary, now } = this.#options;
    const taken = new Map(ids.recent);
    let sealed: SealedFile | undefined;
    if (taken.size >= (this.#options.sealAtLeast ?? sealAtLeast)) {
      boundary("seen:before-seal");
      sealed = await this.#seal(taken);
      boundary("seen:sealed");
    }
    return () => {
      const since = now() - rememberedMs;
      const kept = ids.files.filter(({ until }) => until > since);
      if (sealed === undefined) return ids.replaceFiles(kept);
      ids.attach(sealed);
      ids.replaceFiles([...kept, sealed.info]);
      ids.letGo(taken.keys());
    };
  }

  /** Removes the files that do not count any more. The checkpoint that leaves them out must be on the disk. */
  removeOthers(): void {
    removeUnnamed(this.#options.folder, this.#options.ids, this.#options.log);
  }

  /** Makes one file of the newest ones of about the same size, as long as there are as many. */
  async merge(): Promise<void> {
    const { ids, folder, log, now, note, boundary } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const chosen = chooseFiles(ids);
      if (chosen.length === 0) return;
      const options = { since: now() - rememberedMs, signal: this.#stopping.signal };
      try {
        const merged = await mergeFiles(folder, this.#nextNumber(), chosen, options);
        boundary("seen:merged");
        if (merged !== undefined) ids.attach(this.#open(merged));
        const names = new Set(chosen.map(({ info }) => info.name));
        const at = ids.files.findIndex(({ name }) => names.has(name));
        const others = ids.files.filter(({ name }) => !names.has(name));
        await note([...others.slice(0, at), ...(merged === undefined ? [] : [merged]), ...others.slice(at)]);
        boundary("seen:merge-noted");
        this.removeOthers();
      } catch (error) {
        if (!this.#stopping.signal.aborted)
          log.warn("files of accepted ids could not be merged; they stay as they are", { error: messageOf(error) });
        return;
      }
    }
  }

  /** What is being merged is left as it was. */
  stop(): void {
    this.#stopping.abort(new Error("The engine is closed"));
  }

  /** What cannot be written stays in the journal. */
  async #seal(ids: ReadonlyMap<string, number>): Promise<SealedFile | undefined> {
    try {
      const info = await sealIds(this.#options.folder, this.#nextNumber(), ids);
      return info === undefined ? undefined : this.#open(info);
    } catch (error) {
      const fields = { folder: this.#options.folder, error: messageOf(error) };
      this.#options.log.warn(
        "ids of accepted messages could not be written into a file; they stay in the journal",
        fields,
      );
      return undefined;
    }
  }

  #open(info: SealedInfo): SealedFile {
    return openSealed(this.#options.folder, info, this.#options.ids, this.#options.log);
  }

  #nextNumber(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }
}

/**
 * The newest run of neighbours that is long enough and in which the largest is at most a quarter of them all: so an
 * id is written again only as often as its file has grown to the fourfold. Damaged files stay for themselves.
 */
function chooseFiles(ids: SeenIds): readonly SealedFile[] {
  let run: SealedFile[] = [];
  for (const info of ids.files.toReversed()) {
    const file = ids.opened(info.name);
    if (file === undefined || file.isDamaged) run = [];
    else run = [file, ...run.slice(0, mergeAtOnce - 1)];
    const counts = run.map((each) => each.info.count);
    const sum = counts.reduce((total, count) => total + count, 0);
    if (run.length === mergeAtOnce && 4 * Math.max(...counts) <= sum) return run;
  }
  return [];
}

/** Takes files off the disk that no journal names: a process that was killed left them. */
export function removeUnnamed(folder: string, ids: SeenIds, log: Logger): void {
  const named = new Set(ids.files.map(({ name }) => name));
  for (const name of namesIn(folder)) {
    const isOurs = numberOf(name) !== undefined || name.endsWith(".ids.tmp");
    if (!isOurs || named.has(name)) continue;
    try {
      fs.rmSync(join(folder, name), { force: true });
    } catch (error) {
      log.warn("a file of old ids could not be removed", { file: join(folder, name), error: messageOf(error) });
    }
  }
}
