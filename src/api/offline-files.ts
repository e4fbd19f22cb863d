import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { acquireLock, type Lock } from "../engine/embedded/lock.js";
import { silentLog } from "../log.js";

/**
 * Keeps gateways away from a home and, where it has sessions, its workspace.
 *
 * @throws {EngineError} `locked`, naming the one that runs
 */
export async function lockFiles(home: string, workspace: string): Promise<readonly Lock[]> {
  const locks: Lock[] = [];
  const dir = join(workspace, ".sessions");
  const hasSessions = (await stat(dir).catch(() => undefined))?.isDirectory() === true;
  try {
    locks.push(await acquireLock(join(home, "gateway.lock"), silentLog));
    if (hasSessions) locks.push(await acquireLock(join(dir, ".lock"), silentLog));
    return locks;
  } catch (error) {
    for (const lock of locks) lock.release();
    throw error;
  }
}

/** True for the folder itself and for what is below it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}
