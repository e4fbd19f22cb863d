import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "../error-code.js";
import { HeldFolder } from "./held-folder.js";
import { assertFile, assertStays, noLinks, type WayOptions, wayOf } from "./real-path.js";

export interface WriteOptions extends WayOptions {
  /** Default: that of the file which was there; of a new one what the umask leaves of 0666. */
  readonly mode?: number | undefined;
  /** Of folders that are missing. */
  readonly folderMode?: number | undefined;
  readonly sync?: boolean | undefined;
}

/**
 * Puts a whole new file at a resolved path, or leaves the old one alone. Missing folders are made. A link that comes
 * into the path meanwhile is never followed: the write fails, and one at its very end is replaced. Resolves with the
 * number of bytes.
 *
 * @throws {PathChangedError} when a link leads elsewhere by now; errors of the file system
 */
export async function writeReal(
  resolved: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  options: WriteOptions = {},
): Promise<number> {
  const { folderMode, way, sync = true } = options;
  await using folder = await HeldFolder.make(path.dirname(resolved), {
    way,
    ...(folderMode === undefined ? {} : { mode: folderMode }),
  });
  const name = path.basename(resolved);
  const before = await lstat(folder.at(name)).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
    return undefined;
  });
  if (before !== undefined) assertFile(before, resolved);
  const temporary = `.${randomBytes(8).toString("hex")}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noLinks;
  const handle = await open(folder.at(temporary), flags, options.mode ?? 0o666);
  try {
    let bytes: number;
    try {
      if (wayOf(options) === "checks") await assertStays(path.join(folder.path, temporary), await handle.stat());
      await writeFile(handle, data);
      if (before !== undefined) await keepRights(handle, before, options.mode);
      if (sync) await handle.sync();
      bytes = (await handle.stat()).size;
    } finally {
      await handle.close();
    }
    await folder.assertUnmoved();
    await rename(folder.at(temporary), folder.at(name));
    return bytes;
  } catch (error) {
    await unlink(folder.at(temporary)).catch(() => undefined);
    throw error;
  }
}

async function keepRights(handle: FileHandle, before: Stats, mode = before.mode & 0o777): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== before.uid || gid !== before.gid) await handle.chown(before.uid, before.gid).catch(() => undefined);
  await handle.chmod(mode);
}
