import * as fs from "node:fs";
import { messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { readPlain } from "../../util/files/real-path.js";

/** The sessions whose documents do not show all of their logs, on disk, so that a crash does not forget them. */
export interface StaleNotes {
  /** What an earlier process left. */
  readonly left: readonly string[];
  /** In the file when it returns: it survives `kill -9`. */
  add(key: string): void;
  /** All documents are up to date. */
  clear(): void;
}

/** In the folder of the sessions. */
export const staleNotesName = ".stale";

export function openStaleNotes(path: string, log: Logger): StaleNotes {
  const left = readStaleNotes(path);
  const noted = new Set(left);
  return {
    left,
    add(key) {
      if (noted.has(key)) return;
      noted.add(key);
      try {
        fs.appendFileSync(path, `${JSON.stringify(key)}\n`, { mode: 0o600 });
      } catch (error) {
        // Only a crash would miss it, and the journal tells about most.
        log.debug(`${path} could not be written: ${messageOf(error)}`);
      }
    },
    clear() {
      if (noted.size === 0) return;
      noted.clear();
      fs.rmSync(path, { force: true });
    },
  };
}

/** What an earlier process left. */
export function readStaleNotes(path: string): readonly string[] {
  let text: string;
  try {
    text = readPlain(path).toString();
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const key: unknown = JSON.parse(line);
      return typeof key === "string" ? [key] : [];
    } catch {
      return [];
    }
  });
}
