import { existsSync, mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../error-code.js";

/**
 * Makes a folder with all above it that are missing; one that is there stays as it is. `mode`: who may use those that are made,
 * by default this account alone.
 *
 * `mkdir` of Node with `recursive` says on a read-only file system that the folder does not exist (nodejs/node#47098), and goes
 * round without an end where one can be neither made nor found, as in `/proc`. This says what is so.
 */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const look = (place: string) => stat(place).catch(() => undefined);
    if ((await look(path))?.isDirectory() === true) return;
    const above = dirname(path);
    if (!isMissing(error) || (await look(above)) !== undefined) throw error;
    await makeFolder(above, mode);
    await makeFolder(path, mode);
  }
}

/** As {@link makeFolder}. */
export function makeFolderSync(path: string, mode = 0o700): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const above = dirname(path);
    if (!isMissing(error) || existsSync(above)) throw error;
    makeFolderSync(above, mode);
    makeFolderSync(path, mode);
  }
}
