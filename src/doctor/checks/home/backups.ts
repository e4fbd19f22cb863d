import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { lastBackupName } from "../../../offline/last-backup.js";
import { counted } from "../../../util/text/counted.js";
import type { Check } from "../../check.js";

const lastBackup = z.object({ at: z.string(), file: z.string() });
const dayMs = 86_400_000;
const oldDays = 30;

/** How old the newest backup is, of those that this program made or that lie where it would put them. */
export const backupsCheck: Check = {
  name: "backups",
  async run({ home, now, backupFolders, loaded }) {
    const { kind, schema } = loaded.config.engine;
    const inDatabase = kind === "embedded" ? "" : `, and add pg_dump --schema=${schema}, which has the conversations`;
    const found = await Promise.all([remembered(home), ...backupFolders.map(newestIn)]);
    const [newest] = found.flat().sort((a, b) => b.at - a.at);
    const todo = `maxclaw backup${inDatabase}`;
    if (newest === undefined) return [{ level: "warn", found: "There is no backup", todo }];
    const days = Math.floor((now() - newest.at) / dayMs);
    if (days > oldDays)
      return [{ level: "warn", found: `The newest backup is ${counted(days, "day")} old: ${newest.file}`, todo }];
    return [
      {
        level: "ok",
        found: `The newest backup is ${days <= 0 ? "of today" : `${counted(days, "day")} old`}: ${newest.file}`,
      },
    ];
  },
};

interface Made {
  readonly at: number;
  readonly file: string;
}

async function remembered(home: string): Promise<readonly Made[]> {
  const text = await readFile(join(home, lastBackupName), "utf8").catch(() => undefined);
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
