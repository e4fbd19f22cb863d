import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { assertHomeFormat } from "../engine/embedded/home-format.js";
import { acquireLocks, type Lock } from "../engine/embedded/locking/lock.js";
import { silentLog } from "../log.js";
import { isMissing } from "../util/error-code.js";
import { assertRestored, removeLeftovers, unfinishedRestore } from "./unfinished.js";

/**
 * Keeps gateways away from a home and, where it has sessions, its workspace. One that is replaced may be of any version. What a
 * restore that was killed has left is removed.
 *
 * @throws {EngineError} `locked`, naming the one that runs; `corrupt` for a home of a newer version, or one that a restore has left halfway
 */
export async function lockFiles(
  home: string,
  workspace: string,
  { isReplaced = false }: { readonly isReplaced?: boolean } = {},
): Promise<readonly Lock[]> {
  const dir = join(workspace, ".sessions");
  const hasSessions = (await stat(dir).catch(() => undefined))?.isDirectory() === true;
  if (!isReplaced) assertHomeFormat(home);
  const locks = await acquireLocks(
    [join(home, "gateway.lock"), ...(hasSessions ? [join(dir, ".lock")] : [])],
    silentLog,
  );
  try {
    if (!isReplaced) assertRestored(home);
    if (unfinishedRestore(home) === undefined) removeLeftovers([home, workspace]);
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

/** What is in a folder; nothing where there is none. */
export function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
