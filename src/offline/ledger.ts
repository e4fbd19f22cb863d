import { join } from "node:path";
import { readLedger } from "../engine/embedded/inspect/ledger.js";
import type { LedgerEntry } from "../engine/engine.js";

/** How each accepted message ended, read from the files of a home that no gateway holds. Changes nothing. */
export function readOfflineLedger(home: string, workspace: string): Promise<readonly LedgerEntry[]> {
  return readLedger(home, join(workspace, ".sessions"));
}
