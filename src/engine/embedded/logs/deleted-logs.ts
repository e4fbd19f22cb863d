import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { Maintenance } from "../maintenance.js";
import type { LiveRecords } from "../state.js";
import type { SessionLogs } from "./session-logs.js";
import type { Writer } from "./writer.js";

interface DeletedLogsParts {
  readonly records: LiveRecords;
  readonly logs: SessionLogs;
  readonly writer: Writer;
  readonly maintenance: Maintenance;
}

/**
 * Takes the logs of deleted sessions off the disk. While somebody holds the files they are left for later, and so is what
 * fails: for the next start.
 */
export class DeletedLogs {
  readonly #parts: DeletedLogsParts;
  readonly #log: Logger;

  constructor(parts: DeletedLogsParts, log: Logger) {
    this.#parts = parts;
    this.#log = log;
  }

  removeAll(): void {
    for (const [key, tombstone] of this.#parts.records.sessions.tombstones) if (!tombstone.isGone) this.remove(key);
  }

  remove(key: string): void {
    const { logs, writer, records, maintenance } = this.#parts;
    if (maintenance.isHeld) return;
    if (records.sessions.tombstones.get(key)?.isGone !== false) return;
    try {
      logs.remove(key);
      writer.write([{ o: "gone", key }]);
    } catch (error) {
      this.#log.warn("the log of a deleted session could not be removed; it is tried again at the next start", {
        session: key,
        error: messageOf(error),
      });
    }
  }
}
