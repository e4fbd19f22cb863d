import { constants, realpathSync } from "node:fs";
import { type FileHandle, lstat, open, realpath } from "node:fs/promises";
import path from "node:path";

/** True for `root` itself and everything below it. Both absolute and resolved; names that only begin alike are outside. */
export function isInside(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative === "" || (relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** Where a path truly leads, or one sentence that says why it cannot be used. */
export type Resolution =
  | { readonly ok: true; readonly path: string; readonly exists: boolean }
  | { readonly ok: false; readonly sentence: string };

/**
 * Follows every symbolic link of an absolute path. What does not exist yet is kept below its deepest existing
 * ancestor; a link that leads nowhere is refused, since writing through it would create a file somewhere else.
 */
export async function resolveReal(absolute: string): Promise<Resolution> {
  if (absolute.includes("\0")) return refused("A path cannot contain a NUL byte.");
  const missing: string[] = [];
  let current = path.resolve(absolute);
  for (;;) {
    try {
      const real = await realpath(current);
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

/** The same for a folder of the configuration, at start-up. */
export function resolveFolderSync(absolute: string): string {
  const full = path.resolve(absolute);
  try {
    return realpathSync.native(full);
  } catch {
    const parent = path.dirname(full);
    return parent === full ? full : path.join(resolveFolderSync(parent), path.basename(full));
  }
}

/**
 * Opens a resolved path for reading and makes sure that it is still the file that was judged: no link in its last
 * place, no folder above it exchanged for a link in between. Does not wait on pipes and devices.
 *
 * @throws {PathChangedError} when it is not
 */
export async function openReal(resolved: string): Promise<FileHandle> {
  const handle = await open(resolved, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error) => {
      throw codeOf(error) === "ELOOP" ? new PathChangedError(resolved) : error;
    },
  );
  try {
    const [opened, now] = await Promise.all([handle.stat(), lstat(resolved), assertUnmoved(resolved)]);
    if (opened.ino !== now.ino || opened.dev !== now.dev) throw new PathChangedError(resolved);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Resolves when a resolved, existing path still leads to itself.
 *
 * @throws {PathChangedError} when it now leads elsewhere
 */
export async function assertUnmoved(resolved: string): Promise<void> {
  if ((await realpath(resolved)) !== resolved) throw new PathChangedError(resolved);
}

/** Something on the way to a path became a symbolic link after the path had been judged. */
export class PathChangedError extends Error {
  constructor(target: string) {
    super(`${target} changed while it was being opened`);
    this.name = "PathChangedError";
  }
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

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
