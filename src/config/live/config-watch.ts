import { type FSWatcher, watch } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";

export interface ConfigWatchOptions {
  /** Files that may be absent, and links. */
  readonly files: readonly string[];
  /** Called when any of them is not what it was; not again before it has settled. Must not throw. */
  readonly onChange: () => Promise<void>;
  /** Where the system tells of no changes, as on network folders. Default 2000. */
  readonly pollMs?: number | undefined;
  /** What changes within this time counts as one change. Default 100. */
  readonly quietMs?: number | undefined;
}

/** Looks after single files: by what the system tells of their folders, and by itself now and then. */
export class ConfigWatch implements AsyncDisposable {
  readonly #options: ConfigWatchOptions;
  readonly #poll: ReturnType<typeof setInterval>;
  #watchers: readonly FSWatcher[] = [];
  #watched = "";
  #seen: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: ConfigWatchOptions, seen: string) {
    this.#options = options;
    this.#seen = seen;
    this.#poll = setInterval(() => this.#soon(), options.pollMs ?? 2000);
    this.#poll.unref();
  }

  /** What the files are now counts as known. */
  static async open(options: ConfigWatchOptions): Promise<ConfigWatch> {
    const opened = new ConfigWatch(options, await stampOf(options.files));
    await opened.#follow();
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
    await this.#looking;
  }

  /** However many changes there are, one look comes after the other. */
  #soon(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#looking !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, this.#options.quietMs ?? 100);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const stamp = await stampOf(this.#options.files);
    if (stamp === this.#seen || this.#isClosed) return;
    this.#seen = stamp;
    await this.#follow();
    await this.#options.onChange();
    // What has changed meanwhile may not be told of again.
    if ((await stampOf(this.#options.files)) !== stamp) setImmediate(() => this.#soon());
  }

  /** A link may lead elsewhere now, and a folder may be another one of its name. */
  async #follow(): Promise<void> {
    const { files } = this.#options;
    const real = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
    const all = [...new Set([...files, ...real])].sort();
    const stamp = `${all.join("\n")}\n${await stampOf(all.map(dirname))}`;
    if (stamp === this.#watched || this.#isClosed) return;
    this.#watched = stamp;
    for (const watcher of this.#watchers) watcher.close();
    const names = new Set(all.map((file) => basename(file)));
    this.#watchers = [...new Set(all.map(dirname))].flatMap((folder) => this.#watch(folder, names) ?? []);
  }

  #watch(folder: string, names: ReadonlySet<string>): FSWatcher | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        if (name === null || names.has(name)) this.#soon();
      });
      // The look now and then goes on.
      watcher.on("error", () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }
}

/** Tells one state of files from every other. */
export async function stampOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(
    files.map(async (file) => {
      const found = await stat(file, { bigint: true }).catch(() => undefined);
      return found === undefined ? "-" : `${found.dev}:${found.ino}:${found.mtimeNs}:${found.size}:${found.mode}`;
    }),
  );
  return stamps.join(" ");
}
