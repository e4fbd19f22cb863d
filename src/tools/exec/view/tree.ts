import { constants, type Stats } from "node:fs";
import { link, lstat, open, rename, rm, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { isGone } from "../../../util/error-code.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import { newId } from "../../../util/ids.js";
import type { Survey, SurveyedFile } from "./survey.js";

/** What cannot be linked is copied: so much of it, and no file that is larger. */
const maxCopiedBytes = 256 * 1024 * 1024;
const maxCopiedFile = 32 * 1024 * 1024;
const atOnce = 64;

/** How a real folder is called in the tree. */
export interface TreeRoot {
  readonly name: string;
  readonly folder: string;
}

type Part =
  | { readonly kind: "folder" }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "linked"; readonly dev: number; readonly ino: number }
  | { readonly kind: "copied"; readonly size: number; readonly stamp: string };

/**
 * A folder of ours that holds exactly what may be shown: folders, and hard links to the files. A file that comes later is
 * not in it before somebody has judged it. Commands get it read-only, so a link changes nothing for the file.
 */
export class ViewTree {
  readonly root: string;
  readonly #parts = new Map<string, Part>();
  #copiedBytes = 0;

  /** `root` does not exist, or is empty. */
  constructor(root: string) {
    this.root = root;
  }

  /** Makes the tree what the survey says; resolves with the files that are left out because they can only be copied. */
  async update(survey: Survey, roots: readonly TreeRoot[]): Promise<readonly string[]> {
    const nameOf = (full: string): string => nameIn(roots, full);
    const folders = [...roots.map(({ name }) => name), ...survey.folders.map(nameOf)];
    const links = new Map(survey.links.map(({ path: full, target }) => [nameOf(full), target]));
    const files = new Map(survey.files.map((file) => [nameOf(file.path), file]));
    await this.#removeOthers(new Set(folders), links, files);
    await makeFolder(this.root);
    for (const folder of folders) if (!this.#parts.has(folder)) await this.#makeFolder(folder);
    for (const [name, target] of links) if (!this.#parts.has(name)) await this.#makeLink(name, target);
    const leftOut: string[] = [];
    const open = [...files].filter(([name, file]) => !this.#isLinked(name, file));
    await inBatches(open, async ([name, file]) => {
      if (!(await this.#isCopied(name, file)) && !(await this.#show(name, file))) leftOut.push(file.path);
    });
    return leftOut;
  }

  async remove(): Promise<void> {
    const parts = [...this.#parts];
    this.#parts.clear();
    // Many at once: one by one it takes seconds.
    await inBatches(
      parts.filter(([, { kind }]) => kind !== "folder"),
      async ([name]) => await unlink(path.join(this.root, name)).catch(ifGone),
    );
    await rm(this.root, { recursive: true, force: true });
  }

  async #removeOthers(
    folders: ReadonlySet<string>,
    links: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, SurveyedFile>,
  ): Promise<void> {
    const isWanted = (name: string, part: Part): boolean => {
      if (part.kind === "folder") return folders.has(name);
      return part.kind === "link" ? links.get(name) === part.target : files.has(name);
    };
    const others = [...this.#parts].filter(([name, part]) => !isWanted(name, part));
    await inBatches(
      others.filter(([, { kind }]) => kind !== "folder"),
      async ([name]) => await this.#drop(name),
    );
    // What is in a folder was put there after it.
    for (const [name, { kind }] of others.reverse()) {
      if (kind !== "folder") continue;
      await rmdir(path.join(this.root, name));
      this.#parts.delete(name);
    }
  }

  async #makeFolder(name: string): Promise<void> {
    await makeFolder(path.join(this.root, name), 0o755);
    this.#parts.set(name, { kind: "folder" });
  }

  async #makeLink(name: string, target: string): Promise<void> {
    await symlink(target, path.join(this.root, name));
    this.#parts.set(name, { kind: "link", target });
  }

  async #drop(name: string): Promise<void> {
    const part = this.#parts.get(name);
    if (part?.kind === "copied") this.#copiedBytes -= part.size;
    this.#parts.delete(name);
    await unlink(path.join(this.root, name)).catch(ifGone);
  }

  /** Then it is the file itself, whatever is written into it. */
  #isLinked(name: string, { dev, ino }: SurveyedFile): boolean {
    const part = this.#parts.get(name);
    return part?.kind === "linked" && part.ino === ino && part.dev === dev;
  }

  /** As it is now. */
  async #isCopied(name: string, { path: full }: SurveyedFile): Promise<boolean> {
    const part = this.#parts.get(name);
    if (part?.kind !== "copied") return false;
    const stats = await lstat(full).catch(() => undefined);
    return stats !== undefined && stampOf(stats) === part.stamp;
  }

  /** False when it has to be left out. What is gone meanwhile is not missed. */
  async #show(name: string, file: SurveyedFile): Promise<boolean> {
    const target = path.join(this.root, name);
    const fresh = path.join(this.root, newId("new"));
    const part = (await linkTo(file, fresh)) ?? (await this.#copyTo(file, fresh));
    if (part === "left out" || part === "gone") {
      if (this.#parts.has(name)) await this.#drop(name);
      return part === "gone";
    }
    const old = this.#parts.get(name);
    if (old?.kind === "copied") this.#copiedBytes -= old.size;
    // At no moment is an older state of the file missing.
    await rename(fresh, target);
    this.#parts.set(name, part);
    return true;
  }

  async #copyTo({ path: full, dev, ino }: SurveyedFile, target: string): Promise<Part | "left out" | "gone"> {
    try {
      await using source = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const stats = await source.stat();
      if (!stats.isFile() || stats.ino !== ino || stats.dev !== dev) return "gone";
      if (stats.size > maxCopiedFile || this.#copiedBytes + stats.size > maxCopiedBytes) return "left out";
      this.#copiedBytes += stats.size;
      const bytes = Buffer.alloc(stats.size);
      const { bytesRead } = await source.read(bytes, 0, stats.size, 0);
      await writeFile(target, bytes.subarray(0, bytesRead), { flag: "wx", mode: stats.mode & 0o555 });
      return { kind: "copied", size: stats.size, stamp: stampOf(stats) };
    } catch (error) {
      return isGone(error) ? "gone" : "left out";
    }
  }
}

/** Undefined where the file system, or what the file is, does not let us. */
async function linkTo({ path: full, dev, ino }: SurveyedFile, target: string): Promise<Part | "gone" | undefined> {
  try {
    // Does not follow a link in the last place.
    await link(full, target);
  } catch (error) {
    return isGone(error) ? "gone" : undefined;
  }
  const stats = await lstat(target);
  if (stats.isFile() && stats.ino === ino && stats.dev === dev && isOurs(stats)) return { kind: "linked", dev, ino };
  await unlink(target);
  // Something else has taken its place: the next look judges that.
  return stats.ino === ino && stats.isFile() ? undefined : "gone";
}

/** A further name for a program that runs with another's rights, or for a file of somebody else, is not ours to give. */
function isOurs({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o6000) === 0;
}

function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

function nameIn(roots: readonly TreeRoot[], full: string): string {
  const root = roots.find(({ folder }) => full.startsWith(folder + path.sep));
  if (root === undefined) throw new Error(`${full} is in none of the folders that are shown`);
  return root.name + full.slice(root.folder.length);
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) await Promise.all(items.slice(at, at + atOnce).map(work));
}

function ifGone(error: unknown): void {
  if (!isGone(error)) throw error;
}
