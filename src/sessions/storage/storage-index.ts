import type { SessionRows } from "../list/session-rows.js";

/** An index of its own that the storage of files keeps: it tells which sessions there are without reading their lines. */
export interface StorageIndex {
  /** Every session that has a line. Kept up to date by the storage. */
  rows(): Promise<SessionRows>;
  /** The files of the session logs that no line belonged to when the index was read. */
  strayLogs(): Promise<readonly string[]>;
}
