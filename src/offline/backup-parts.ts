import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isBackup } from "../backup/is-backup.js";
import { ownHost } from "../engine/embedded/locking/process-host.js";
import { processStart } from "../engine/embedded/locking/process-start.js";
import { openReal } from "../util/files/real-path.js";

const named = /\.([0-9a-f]{8})-(\d+)\.part$/;
/** Nobody can tell. */
const unknown = "00000000";
/** So long nobody writes at one backup without the file growing. */
const restMs = 86_400_000;

/** Where a backup is until it is complete. The name says who writes it: after a kill the next one removes it. */
export function partOf(file: string): string {
  return `${file}.${hostMark()}-${process.pid}.part`;
}

/**
 * Removes what backups have left in a folder that were killed: their process is gone, or they are on another machine, or from before its
 * last start, and have not grown for a day. What cannot be removed is left for the next time.
 */
export async function removeParts(folder: string): Promise<void> {
  const own = hostMark();
  for (const name of await readdir(folder).catch(() => [])) {
    const [, mark, pid] = named.exec(name) ?? [];
    if (mark === undefined) continue;
    const path = join(folder, name);
    const isGone = mark === own && own !== unknown && processStart(Number(pid)) === undefined;
    if (await isLeft(path, isGone).catch(() => false)) await rm(path, { force: true }).catch(() => undefined);
  }
}

/** People may have files of such names too. */
async function isLeft(path: string, isGone: boolean): Promise<boolean> {
  await using file = await openReal(path);
  const { size, mtimeMs } = await file.stat();
  if (!isGone && Date.now() - mtimeMs < restMs) return false;
  return size === 0 || (await isBackup(file));
}

/** Where process ids mean the same. */
function hostMark(): string {
  const { boot, pids } = ownHost();
  if (boot === undefined || pids === undefined) return unknown;
  return createHash("sha256").update(`${boot} ${pids}`).digest("hex").slice(0, 8);
}
