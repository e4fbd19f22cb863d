import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Snapshot {
  /** The boundary at which it was taken. */
  readonly name: string;
  readonly home: string;
}

/**
 * Copies of a home, taken at the boundaries of its running engine. Each is what `kill -9` at that moment leaves behind:
 * everything that was written, and nothing that was only in memory.
 */
export function createSnapshots(home: string) {
  const root = mkdtempSync(join(tmpdir(), "maxclaw-snapshots-"));
  const taken: Snapshot[] = [];
  let isOn = false;
  return {
    taken,
    start(): void {
      isOn = true;
    },
    stop(): void {
      isOn = false;
    },
    take(name: string): void {
      if (!isOn) return;
      const copy = join(root, `${taken.length}`);
      cpSync(home, copy, { recursive: true });
      // The process that held them is still this one.
      rmSync(join(copy, "gateway.lock"), { force: true });
      rmSync(join(copy, "workspace", ".sessions", ".lock"), { force: true });
      taken.push({ name, home: copy });
    },
    [Symbol.dispose](): void {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
