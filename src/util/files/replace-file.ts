import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { InOrder } from "../async/in-order.js";
import { codeOf } from "../error-code.js";

type Data = string | Uint8Array | ((temporary: string) => Promise<void>);

interface ReplaceOptions {
  /** Without it, that of the old file. */
  readonly mode?: number;
  readonly sync?: boolean;
}

/** Of one file, so that the last one that was given stays. */
const replacements = new InOrder<string>();

/**
 * Puts a whole new file in place of the old one, or leaves the old one alone. Of a link, the file that it leads to is replaced. A function writes
 * the new file itself, piece by piece.
 */
export async function replaceFile(path: string, data: Data, options: ReplaceOptions = {}): Promise<void> {
  try {
    await replacements.run(() => replace(path, data, options), resolve(path));
  } catch (error) {
    // People know the file, not the one beside it that was to take its place.
    if (error instanceof Error && "syscall" in error) Object.assign(error, { path });
    throw error;
  }
}

async function replace(path: string, data: Data, { mode, sync = true }: ReplaceOptions): Promise<void> {
  const real = await realpath(path).catch(() => path);
  const old = await stat(real).catch(() => undefined);
  const temporary = `${real}.${randomBytes(6).toString("hex")}`;
  const file = await open(temporary, "wx", mode ?? old?.mode);
  try {
    try {
      await (typeof data === "function" ? data(temporary) : file.writeFile(data));
      await makeLike(file, old, mode);
      if (sync) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** The system may have left out some of the mode (umask), and a new file belongs to this process's account. */
async function makeLike(file: FileHandle, old: Stats | undefined, mode = old?.mode): Promise<void> {
  const made = await file.stat();
  if (old !== undefined && process.getuid !== undefined && (made.uid !== old.uid || made.gid !== old.gid))
    await file.chown(old.uid, old.gid).catch((error: unknown) => {
      // Only the system's administrator may give a file away, and not every file system has owners.
      const isAllowed = codeOf(error) === "ENOSYS" || process.getuid?.() !== 0;
      if (!isAllowed) throw error;
    });
  if (mode !== undefined && (made.mode & 0o7777) !== (mode & 0o7777)) await file.chmod(mode & 0o7777);
}
