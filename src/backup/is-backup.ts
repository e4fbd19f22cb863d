import type { FileHandle } from "node:fs/promises";
import { constants, gunzipSync } from "node:zlib";
import { archiveRoot } from "./manifest.js";

/** More than the first header takes, packed in any way. */
const lookBytes = 4096;

/** Whether a file begins as a backup does, whatever its name is; also one that is not complete. */
export async function isBackup(handle: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(lookBytes), 0, lookBytes, 0);
  if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) return false;
  try {
    const begun = gunzipSync(buffer.subarray(0, bytesRead), { finishFlush: constants.Z_SYNC_FLUSH });
    const [name = ""] = begun.toString("latin1", 0, 100).split("\0", 1);
    return name === archiveRoot || name.startsWith(`${archiveRoot}/`);
  } catch {
    // Only its first bytes look packed.
    return false;
  }
}
