import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { lastBackupName } from "../../../offline/last-backup.js";
import { readOnly } from "../../../util/files/real-path.js";
import { counted } from "../../../util/text/counted.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";

const lastBackup = z.object({ at: z.string(), file: z.string() });
const dayMs = 86_400_000;
const oldDays = 30;

/** How old the newest backup is, of those that this program made or that lie where it would put them. */
export const backupsCheck: Check = {
  name: "backups",
  async run({ home, now, backupFolders, loaded }) {
    const { kind, schema } = loaded.config.engine;
    const made = await Promise.all([remembered(home), ...backupFolders.map(newestIn)]);
    const [newest] = made.flat().sort((a, b) => b.at - a.at);
    const todo = kind === "embedded" ? "maxclaw backup" : findingSentence("backup_database", { schema });
    if (newest === undefined) return [{ level: "warn", found: findingSentence("no_backup"), todo }];
    const days = Math.floor((now() - newest.at) / dayMs);
    const { file } = newest;
    const found =
      days <= 0
        ? findingSentence("backup_today", { file })
        : findingSentence("backup_old", { age: counted(days, "day"), file });
    return [days > oldDays ? { level: "warn", found, todo } : { level: "ok", found }];
  },
};

interface Made {
  readonly at: number;
  readonly file: string;
}

async function remembered(home: string): Promise<readonly Made[]> {
  const text = await readFile(join(home, lastBackupName), { encoding: "utf8", flag: readOnly }).catch(() => undefined);
  if (text === undefined) return [];
  const { at, file } = lastBackup.parse(JSON.parse(text));
  return [{ at: Date.parse(at), file }];
}

async function newestIn(folder: string): Promise<readonly Made[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /^maxclaw-backup-.*\.tar\.gz$/.test(name)).map((name) => join(folder, name));
  const made = await Promise.all(files.map(async (file) => ({ file, at: (await stat(file)).mtimeMs })));
  return made.sort((a, b) => b.at - a.at).slice(0, 1);
}
