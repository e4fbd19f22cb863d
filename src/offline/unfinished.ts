import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../errors.js";
import { type Logger, silentLog } from "../log.js";
import { isMissing } from "../util/error-code.js";
import { reasonOf } from "../util/files/system-fault.js";

/** Is in the home while a restore puts its files into place: what is there meanwhile is neither the old nor the new. */
export const restoreMarker = "restore-unfinished";

/** Where a restore that began at this time writes what is in the backup, before it takes the place of what is there. */
export function stagingName(startedAt: string): string {
  return `.restore-${startedAt}`;
}

const staging = /^\.restore-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/**
 * Removes what a restore that was killed had written and not put into place. Only for who has the lock of the home, so that none is
 * at work, and only where {@link unfinishedRestore} finds nothing. What cannot be removed is left for the next time.
 */
export function removeLeftovers(folders: readonly string[], log: Logger = silentLog): void {
  for (const folder of folders)
    try {
      for (const name of readdirSync(folder)) if (staging.test(name)) remove(join(folder, name), log);
    } catch (error) {
      if (!isMissing(error)) log.warn(`${folder} may hold what a killed restore has left: ${reasonOf(error)}`);
    }
}

function remove(path: string, log: Logger): void {
  rmSync(path, { recursive: true, force: true });
  log.info("removed what a restore that was cut off had left", { path });
}

/** What a person reads who uses a home that a restore has left halfway; undefined for any other home. */
export function unfinishedRestore(home: string): string | undefined {
  if (!existsSync(join(home, restoreMarker))) return undefined;
  return `A restore of ${home} was cut off halfway. Run "maxclaw restore" again, with --force; what was there before is kept.`;
}

/** @throws {EngineError} `corrupt` for a home that a restore has left halfway */
export function assertRestored(home: string): void {
  const problem = unfinishedRestore(home);
  if (problem !== undefined) throw new EngineError(problem, { kind: "corrupt" });
}
