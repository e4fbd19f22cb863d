import { join } from "node:path";
import { replaceFile } from "../util/files/replace-file.js";

/** Beside the journal: when the last backup was made, and where it was put. */
export const lastBackupName = "last-backup.json";

/** So that `maxclaw doctor` knows how old the newest one is. A home that cannot be written to has its backup all the same. */
export async function rememberBackup(home: string, file: string): Promise<void> {
  const text = JSON.stringify({ at: new Date().toISOString(), file });
  await replaceFile(join(home, lastBackupName), `${text}\n`, { sync: false, mode: 0o600 }).catch(() => undefined);
}

/** `maxclaw-backup-2026-11-21-140355.tar.gz`, by this machine's clock. */
export function backupNameAt(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `maxclaw-backup-${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}.tar.gz`;
}
