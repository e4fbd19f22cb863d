import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import { codeOf, isMissing, notPlain, withPath } from "../error-code.js";

/**
 * How it is made sure that what was judged is what is opened.
 * `handles` (Linux): a thing is opened without touching it, the system says where it truly is, and only then it is read,
 * through that handle. `checks` (elsewhere): it is opened and looked up again, several times, before a byte is used.
 */
export type Way = "handles" | "checks";

export interface WayOptions {
  /** Default: what the system offers. */
  readonly way?: Way | undefined;
}

/** Where a path truly leads, or one sentence that says why it cannot be used. */
export type Resolution =
  | { readonly ok: true; readonly path: string; readonly exists: boolean }
  | { readonly ok: false; readonly sentence: string };

/** Linux: opens nothing, waits for nobody, and is enough to ask what it is and where. Node has no name for it. */
export const O_PATH = 0x200000;
/** macOS: no link in any place of the path. */
const O_NOFOLLOW_ANY = 0x20000000;
export const noLinks =
  process.platform === "darwin" ? constants.O_NOFOLLOW | O_NOFOLLOW_ANY : (constants.O_NOFOLLOW ?? 0);
/** Neither a pipe nor a lease of another program holds up a thread of ours. */
const nonBlocking = constants.O_NONBLOCK ?? 0;
/** Flags for files of our own places, where somebody may have put a pipe all the same. */
export const readOnly = constants.O_RDONLY | nonBlocking;
export const appendOnly = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | nonBlocking;
/** One look can be deceived by a folder that is renamed to and fro; so many in a row cannot. */
const rounds = process.platform === "darwin" ? 3 : 10;
/** A file that programs save without a pause is found within so many looks. */
const attempts = 20;

export function wayOf({ way }: WayOptions = {}): Way {
  return way ?? (process.platform === "linux" && existsSync("/proc/self/fd") ? "handles" : "checks");
}

/**
 * Follows every symbolic link of an absolute path. What does not exist yet is kept below its deepest existing
 * ancestor; a link that leads nowhere is refused, since writing through it would create a file somewhere else.
 */
export async function resolveReal(absolute: string, options: WayOptions = {}): Promise<Resolution> {
  if (absolute.includes("\0")) return refused("A path cannot contain a NUL byte.");
  const missing: string[] = [];
  let current = path.resolve(absolute);
  for (;;) {
    try {
      const real = await truePath(current, options);
      if (real === undefined) return refused("The path leads to something that is not a file.");
      return { ok: true, path: path.join(real, ...missing), exists: missing.length === 0 };
    } catch (error) {
      const code = codeOf(error);
      if (code === "ELOOP") return refused("The path runs through symbolic links in a circle.");
      if (code === "ENAMETOOLONG") return refused("The path is too long.");
      if (code === "EACCES" || code === "EPERM") return refused("The system does not allow looking at this path.");
      if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    }
    if (await isPresent(current)) return refused("The path runs through a symbolic link that leads nowhere.");
    const parent = path.dirname(current);
    if (parent === current) return refused("The path does not exist.");
    missing.unshift(path.basename(current));
    current = parent;
  }
}

export interface OpenOptions extends WayOptions {
  /** Refuses a file with a second name (hard link): it may be one that lies elsewhere. */
  readonly alone?: boolean | undefined;
}

/** A file of our own places for reading; undefined when there is none. */
export async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return await open(path, readOnly).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** A file of our own places, open to be read. @throws errors of the file system, also for a pipe or a device in its place: a read would wait without end */
export function openPlain(path: string): number {
  const fd = openSync(path, readOnly);
  const found = fstatSync(fd);
  if (found.isFile()) return fd;
  closeSync(fd);
  throw notPlain(path, found);
}

/** Its bytes. @throws as {@link openPlain} */
export function readPlain(path: string): Buffer {
  const fd = openPlain(path);
  try {
    return withPath(path, () => readFileSync(fd));
  } finally {
    closeSync(fd);
  }
}

/**
 * Opens the regular file at a resolved path for reading, and nothing else: not what a link leads to that came into the
 * path meanwhile. Pipes, sockets and devices are not opened at all.
 *
 * @throws {PathChangedError} when something else is there by now; {LinkedFileError} with `alone`; errors of the file
 *   system, `EISDIR` for a folder and `ENXIO` for what is not a file
 */
export async function openReal(resolved: string, options: OpenOptions = {}): Promise<FileHandle> {
  if (wayOf(options) === "checks") return await openChecked(resolved, options);
  await using held = await holdReal(resolved);
  assertFile(await held.stat(), resolved, options);
  return await open(pathOfHandle(held), readOnly);
}

/** What is at a resolved path. @throws {PathChangedError} when a link leads elsewhere by now; errors of the file system */
export async function statReal(resolved: string, options: WayOptions = {}): Promise<Stats> {
  if (wayOf(options) === "checks") {
    const stats = await lstat(resolved);
    await assertStays(resolved, stats);
    return stats;
  }
  await using held = await holdReal(resolved);
  return await held.stat();
}

/**
 * Linux: a handle that names what is at a resolved path, without opening it.
 *
 * @throws {PathChangedError} when a link leads elsewhere by now; errors of the file system
 */
export async function holdReal(resolved: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    const held = await open(resolved, O_PATH | constants.O_NOFOLLOW).catch((error: unknown) => {
      throw codeOf(error) === "ELOOP" ? new PathChangedError(resolved) : error;
    });
    try {
      const realPath = await realPathOf(held);
      if (realPath === resolved && !(await held.stat()).isSymbolicLink()) return held;
      // Programs save a file by putting a new one in its place: then the new one is meant.
      if (realPath !== undefined || attempt >= attempts) throw new PathChangedError(resolved);
    } catch (error) {
      await held.close();
      throw error;
    }
    await held.close();
  }
}

/** Linux: names the very thing that the handle has, for every call that takes a path. */
export function pathOfHandle(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/** Elsewhere: resolves when a resolved path leads to this very thing, over no link. @throws {PathChangedError} */
export async function assertStays(resolved: string, { ino, dev }: Pick<Stats, "ino" | "dev">): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const now = await lstat(resolved).catch(() => undefined);
    if (now?.ino !== ino || now.dev !== dev || now.isSymbolicLink()) throw new PathChangedError(resolved);
    if ((await realpath(resolved).catch(() => undefined)) !== resolved) throw new PathChangedError(resolved);
  }
}

/** @throws {PathChangedError} for a link; `EISDIR` for a folder; `ENXIO` for what is not a file; {LinkedFileError} */
export function assertFile(stats: Stats, target: string, { alone = false }: OpenOptions = {}): void {
  if (stats.isSymbolicLink()) throw new PathChangedError(target);
  if (stats.isDirectory()) throw Object.assign(new Error(`${target} is a folder`), { code: "EISDIR" });
  if (!stats.isFile()) throw Object.assign(new Error(`${target} is not a regular file`), { code: "ENXIO" });
  if (alone && stats.nlink > 1) throw new LinkedFileError(target);
}

/** Something on the way to a path became a symbolic link after the path had been judged. */
export class PathChangedError extends Error {
  constructor(target: string) {
    super(`${target} changed while it was being opened`);
    this.name = "PathChangedError";
  }
}

/** A file has a second name, and the other one may be in a place that nobody has judged. */
export class LinkedFileError extends Error {
  constructor(target: string) {
    super(`${target} has a second name (a hard link)`);
    this.name = "LinkedFileError";
  }
}

async function openChecked(resolved: string, options: OpenOptions): Promise<FileHandle> {
  assertFile(await lstat(resolved), resolved, options);
  const handle = await open(resolved, readOnly | noLinks).catch((error: unknown) => {
    throw codeOf(error) === "ELOOP" ? new PathChangedError(resolved) : error;
  });
  try {
    const stats = await handle.stat();
    assertFile(stats, resolved, options);
    await assertStays(resolved, stats);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function truePath(target: string, options: WayOptions): Promise<string | undefined> {
  if (wayOf(options) === "checks") return await realpath(target);
  for (let attempt = 1; ; attempt++) {
    await using handle = await open(target, O_PATH);
    const realPath = await realPathOf(handle);
    if (realPath !== undefined || attempt >= attempts) return realPath;
  }
}

/** Undefined for what has been deleted, and for what never had a path, such as a pipe between two programs. */
async function realPathOf(handle: FileHandle): Promise<string | undefined> {
  const realPath = await readlink(pathOfHandle(handle));
  if (!realPath.startsWith("/")) return undefined;
  if (!realPath.endsWith(" (deleted)")) return realPath;
  const [own, there] = await Promise.all([handle.stat(), lstat(realPath).catch(() => undefined)]);
  return own.ino === there?.ino && own.dev === there.dev ? realPath : undefined;
}

function refused(sentence: string): Resolution {
  return { ok: false, sentence };
}

async function isPresent(target: string): Promise<boolean> {
  return lstat(target).then(
    () => true,
    () => false,
  );
}
