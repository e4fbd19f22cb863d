import { existsSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../errors.js";

/** Is in the home while a restore puts its files into place: what is there meanwhile is neither the old nor the new. */
export const restoreMarker = "restore-unfinished";

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
