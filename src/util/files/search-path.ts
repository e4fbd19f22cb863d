import { realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Where anybody may put a program. */
const open = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * A PATH on which programs can be looked up: without what is relative, empty, not there, writable by everybody, or below
 * one of the `closed` folders, in which others may write.
 */
export function safeSearchPath(searchPath: string | undefined, closed: readonly string[]): string {
  const roots = [...closed, ...open, tmpdir()].flatMap((folder) => realOf(folder) ?? []);
  return (searchPath ?? "")
    .split(path.delimiter)
    .filter((entry) => {
      const real = path.isAbsolute(entry) ? realOf(entry) : undefined;
      if (real === undefined || roots.some((root) => isBelow(root, real))) return false;
      const mode = statSync(real, { throwIfNoEntry: false })?.mode;
      return mode !== undefined && (process.platform === "win32" || (mode & 0o002) === 0);
    })
    .join(path.delimiter);
}

function isBelow(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

function realOf(folder: string): string | undefined {
  try {
    return realpathSync.native(folder);
  } catch {
    return undefined;
  }
}
