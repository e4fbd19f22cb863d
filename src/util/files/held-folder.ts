import { constants, type Dirent, type Stats } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, readdir, readlink, rename, rmdir, unlink } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../error-code.js";
import { assertStays, holdReal, O_PATH, PathChangedError, pathOfHandle, type WayOptions, wayOf } from "./real-path.js";

/** A folder that is held: names in it mean this one folder, whatever happens to the paths that lead to it. */
export class HeldFolder implements AsyncDisposable {
  /** Absolute, every link followed: where it was when it was opened. */
  readonly path: string;
  readonly #handle: FileHandle | undefined;
  readonly #stats: Stats;

  private constructor(resolved: string, stats: Stats, handle?: FileHandle) {
    this.path = resolved;
    this.#stats = stats;
    this.#handle = handle;
  }

  /** @throws {PathChangedError} when a link leads elsewhere by now; `ENOTDIR` for what is not a folder */
  static async open(resolved: string, options: WayOptions = {}): Promise<HeldFolder> {
    if (wayOf(options) === "handles") return await HeldFolder.#of(resolved, await holdReal(resolved));
    const stats = await lstat(resolved);
    assertFolder(stats, resolved);
    await assertStays(resolved, stats);
    return new HeldFolder(resolved, stats);
  }

  /** The same, and makes what is missing of it, name by name. */
  static async make(resolved: string, options: WayOptions & { readonly mode?: number } = {}): Promise<HeldFolder> {
    try {
      return await HeldFolder.open(resolved, options);
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || path.dirname(resolved) === resolved) throw error;
    }
    await using parent = await HeldFolder.make(path.dirname(resolved), options);
    const name = path.basename(resolved);
    await mkdir(parent.at(name), { mode: options.mode ?? 0o777 }).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
    return await parent.child(name);
  }

  static async #of(resolved: string, handle: FileHandle): Promise<HeldFolder> {
    try {
      const stats = await handle.stat();
      assertFolder(stats, resolved);
      return new HeldFolder(resolved, stats, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The path of a name in it, for every call that takes a path and does not follow a link at its end. */
  at(name: string): string {
    if (name === "" || name === "." || name === ".." || /[/\0]/.test(name)) throw new PathChangedError(name);
    return path.join(this.#handle === undefined ? this.path : pathOfHandle(this.#handle), name);
  }

  /** A folder in it; not what a link leads to. */
  async child(name: string): Promise<HeldFolder> {
    const resolved = path.join(this.path, name);
    if (this.#handle === undefined) return await HeldFolder.open(resolved, { way: "checks" });
    const handle = await open(this.at(name), O_PATH | constants.O_NOFOLLOW);
    const folder = await HeldFolder.#of(resolved, handle);
    try {
      await folder.assertUnmoved();
      return folder;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async entries(): Promise<Dirent[]> {
    const entries = await readdir(this.#handle === undefined ? this.path : pathOfHandle(this.#handle), {
      withFileTypes: true,
    });
    await this.assertUnmoved();
    return entries;
  }

  /** For its owner, who may have taken the right from everybody. */
  async makeWritable(): Promise<void> {
    const { mode } = this.#stats;
    if ((mode & 0o700) !== 0o700 && this.#handle !== undefined) await chmod(pathOfHandle(this.#handle), mode | 0o700);
  }

  /** @throws {PathChangedError} when it is not where it was when it was opened */
  async assertUnmoved(): Promise<void> {
    if (this.#handle === undefined) await assertStays(this.path, this.#stats);
    else if ((await readlink(pathOfHandle(this.#handle))) !== this.path) throw new PathChangedError(this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
  }
}

/** So deep, no more handles are taken: what is below is brought up first. */
const maxDepth = 40;
/** So long, the system can still say where a folder in it is. */
const maxLength = 2000;

/**
 * Deletes a folder with all that is in it, and never a thing elsewhere, whatever somebody makes of it meanwhile. One
 * that is not there is fine, and so is a link in its place: that alone goes.
 */
export async function removeFolder(resolved: string, options: WayOptions = {}): Promise<void> {
  try {
    await using parent = await HeldFolder.open(path.dirname(resolved), options);
    const name = path.basename(resolved);
    const stats = await lstat(parent.at(name));
    if (!stats.isDirectory()) return await unlink(parent.at(name));
    await using folder = await parent.child(name);
    await new Emptying(folder).run();
    await rmdir(parent.at(name));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

class Emptying {
  readonly #root: HeldFolder;
  #brought = 0;

  constructor(root: HeldFolder) {
    this.#root = root;
  }

  async run(): Promise<void> {
    do {
      this.#brought = 0;
      await this.#empty(this.#root, 1);
    } while (this.#brought > 0);
  }

  async #empty(folder: HeldFolder, depth: number): Promise<void> {
    await folder.makeWritable();
    for (const entry of await folder.entries()) {
      if (!entry.isDirectory()) await unlink(folder.at(entry.name)).catch(ifGone);
      else if (depth >= maxDepth || folder.path.length > maxLength) await this.#bringUp(folder, entry.name);
      else await this.#remove(folder, entry.name, depth);
    }
  }

  async #remove(folder: HeldFolder, name: string, depth: number): Promise<void> {
    try {
      await using inner = await folder.child(name);
      await this.#empty(inner, depth + 1);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      return;
    }
    await rmdir(folder.at(name)).catch(ifGone);
  }

  /** Somebody can make folders in folders without end. */
  async #bringUp(folder: HeldFolder, name: string): Promise<void> {
    this.#brought += 1;
    await rename(folder.at(name), this.#root.at(`.${process.hrtime.bigint()}-${this.#brought}`)).catch(ifGone);
  }
}

function ifGone(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

function assertFolder(stats: Stats, target: string): void {
  if (stats.isSymbolicLink()) throw new PathChangedError(target);
  if (!stats.isDirectory()) throw Object.assign(new Error(`${target} is not a folder`), { code: "ENOTDIR" });
}
