import { join } from "node:path";
import { acquireLock, type Lock, readLock } from "../../../../src/engine/embedded/locking/lock.js";
import { EngineError } from "../../../../src/errors.js";
import type { Logger } from "../../../../src/log.js";

/**
 * Takes the folder for this process: of two bridges on one, each would confirm to WhatsApp what the other has to keep, and
 * both would use one login.
 *
 * @throws when another bridge has it
 */
export async function holdHome(home: string, log: Logger): Promise<Lock> {
  const path = join(home, "bridge.lock");
  try {
    return await acquireLock(path, log);
  } catch (cause) {
    const holder = cause instanceof EngineError && cause.kind === "locked" ? await readLock(path) : undefined;
    if (holder === undefined) throw cause;
    const who =
      holder.elsewhere === undefined ? `pid ${holder.pid}` : `in another container or machine, ${holder.elsewhere}`;
    throw new Error(`Another WhatsApp bridge (${who}) uses ${home}. End it, or set BRIDGE_HOME to another folder.`, {
      cause,
    });
  }
}
