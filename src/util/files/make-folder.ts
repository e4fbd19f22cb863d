import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing } from "../error-code.js";

/**
 * Makes a folder with all above it that are missing, for this account alone; one that is there stays as it is.
 *
 * Where a file system is read-only, `mkdir` with `recursive` says that the folder does not exist (nodejs/node#47098). This says
 * what is so: EROFS.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(firstMissing(path), { mode: 0o700 });
    await mkdir(path, { recursive: true, mode: 0o700 });
  }
}

function firstMissing(path: string): string {
  const above = dirname(path);
  return above === path || existsSync(above) ? path : firstMissing(above);
}
