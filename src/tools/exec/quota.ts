import { statfs } from "node:fs/promises";
import { sleep } from "../../util/async/sleep.js";
import { excessOf, type FolderLimits, type FolderUsage, usageOf } from "../folder-usage.js";

export interface QuotaLimits extends FolderLimits {
  /** Of the disk. With less of it left a command that fills it is ended. */
  readonly minFreeBytes: number;
}

/** What a command starts from. */
export interface QuotaStart {
  readonly usage: FolderUsage;
  readonly freeBytes: number;
  /** What is wrong, while too much is there: the command may delete. */
  readonly excess: string | undefined;
  /** Of one file that it writes. */
  readonly maxFileBytes: number;
}

export interface QuotaWatcher {
  /** Called once, with the end of a sentence that says why. */
  readonly onExcess: (why: string) => void;
  /** Called after each look at which all was well. */
  readonly onLook: () => Promise<void>;
}

const firstLookMs = 500;
/** Looking takes so much of the time at most. */
const maxShare = 0.04;
/** A command that tidies up may make a few files on its way. */
const slack: FolderLimits = { maxBytes: 1024 ** 2, maxFiles: 100 };

/**
 * Looks at what the folders of a terminal hold, before commands and while they run. While there is too much, commands
 * can only delete: they can write no file, and are ended when the number of files grows.
 */
export class Quota {
  readonly #folders: readonly string[];
  readonly #limits: QuotaLimits;

  /** The first folder is the one that people know. */
  constructor(folders: readonly string[], limits: QuotaLimits) {
    this.#folders = folders;
    this.#limits = limits;
  }

  /** A string: no command can run, and why. */
  async start(): Promise<QuotaStart | string> {
    const { maxBytes, maxFiles } = this.#limits;
    const [usage, freeBytes] = await Promise.all([this.#look(2), this.#free()]);
    const excess = excessOf(usage, this.#limits);
    if (excess !== undefined && (usage.bytes > 2 * maxBytes || usage.files > 2 * maxFiles))
      return `This chat's folder ${excess}: more than twice as much, so no command runs here. Delete files on the gateway's machine, in ${this.#folders[0]}.`;
    const isFull = usage.bytes > maxBytes || usage.closed !== undefined;
    return { usage, freeBytes, excess, maxFileBytes: isFull ? 0 : maxBytes };
  }

  /** Goes on until the folders have grown over their limits. Rejects when the signal aborts. */
  async watch(from: QuotaStart, { onExcess, onLook }: QuotaWatcher, signal: AbortSignal): Promise<void> {
    const limits: FolderLimits = {
      maxBytes: Math.max(this.#limits.maxBytes, from.usage.bytes + slack.maxBytes),
      maxFiles: Math.max(this.#limits.maxFiles, from.usage.files + slack.maxFiles),
    };
    let pauseMs = firstLookMs;
    for (;;) {
      await sleep(pauseMs, signal);
      const begun = performance.now();
      const [usage, freeBytes] = await Promise.all([this.#look(2), this.#free()]);
      signal.throwIfAborted();
      const isOver = usage.bytes > limits.maxBytes || usage.files > limits.maxFiles;
      const isNewlyClosed = usage.closed !== undefined && from.usage.closed === undefined;
      const why = isOver || isNewlyClosed ? excessOf(usage, this.#limits) : undefined;
      if (why !== undefined) return onExcess(`this chat's folder ${why}`);
      if (freeBytes < this.#limits.minFreeBytes && freeBytes < from.freeBytes - this.#limits.minFreeBytes / 8)
        return onExcess("the disk is almost full");
      await onLook();
      pauseMs = Math.max(2 * firstLookMs, (performance.now() - begun) / maxShare);
    }
  }

  async #look(factor: number): Promise<FolderUsage> {
    const { maxBytes, maxFiles } = this.#limits;
    return await usageOf(this.#folders, { maxBytes: factor * maxBytes, maxFiles: factor * maxFiles });
  }

  async #free(): Promise<number> {
    const [folder = "/"] = this.#folders;
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  }
}
