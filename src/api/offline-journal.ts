import { join } from "node:path";
import { acquireLock } from "../engine/embedded/lock.js";
import { type JournalRepair, repairJournal } from "../engine/embedded/repair.js";
import { silentLog } from "../log.js";

/**
 * Repairs the journal of a home that no gateway holds.
 *
 * @throws {EngineError} `locked` when one does
 */
export async function repairOfflineJournal(home: string): Promise<JournalRepair> {
  const lock = await acquireLock(join(home, "gateway.lock"), silentLog);
  try {
    return await repairJournal(home, () => lock.assertHeld());
  } finally {
    lock.release();
  }
}
