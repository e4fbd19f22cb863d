import { join } from "node:path";
import { acquireLock, type Lock } from "../engine/embedded/locking/lock.js";
import { EngineError } from "../errors.js";
import { silentLog } from "../log.js";

/** Keeps a second update away from a home. Undefined: one is under way. @throws {EngineError} the home cannot be written to */
export async function lockUpdates(home: string): Promise<Lock | undefined> {
  try {
    return await acquireLock(join(home, "update.lock"), silentLog);
  } catch (error) {
    if (error instanceof EngineError && error.kind === "locked") return undefined;
    throw error;
  }
}
