import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** With less than this, nothing that is worth it can be written. */
const fullBytes = 64 * 1024;

/** Says which of these folders is on a disk without room, and what to do; undefined: none is. The folders need not be there yet. */
export async function fullDisk(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const { bavail, bfree, bsize } = await statfs(await nearest(folder));
    // A part of a disk may be kept for root.
    const free = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
    if (free < fullBytes) return `The disk of ${folder} is full. Free some space.`;
  }
  return undefined;
}

/** The folder itself, or the one above that is there. */
export async function nearest(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const isThere = await stat(at).then(
      () => true,
      () => false,
    );
    if (isThere || at === dirname(at)) return at;
  }
}
