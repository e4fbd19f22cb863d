import { join } from "node:path";
import { openclawConfigs } from "./openclaw/read.js";
import { isFile, isFolder, namesIn } from "./read-files.js";
import type { SourceKind } from "./source.js";

export interface Candidate {
  readonly folder: string;
  readonly kind: SourceKind;
}

/** Whose home a folder is, by its files; undefined when it is none that we know. */
export async function kindOf(folder: string): Promise<SourceKind | undefined> {
  for (const name of openclawConfigs) if (await isFile(join(folder, name))) return "openclaw";
  if (await isFolder(join(folder, "agents"))) return "openclaw";
  const inWorkspace = (name: string): string => join(folder, "workspace", name);
  // Both have a config.json and a workspace; only one of them keeps its sessions in hidden folders.
  for (const name of [".sessions", ".cron", ".skills_state.json", ".uploads"])
    if ((await namesIn(inWorkspace(name))).length > 0 || (await isFile(inWorkspace(name)))) return "maxclaw";
  for (const path of [join(folder, "sessions"), join(folder, "cron"), inWorkspace("sessions"), inWorkspace("cron")])
    if (await isFolder(path)) return "nanobot";
  const isHome = (await isFile(join(folder, "config.json"))) || (await isFolder(join(folder, "workspace")));
  if (!isHome) return undefined;
  return /nanobot/.test(folder) ? "nanobot" : "maxclaw";
}

/** The old homes in their usual places. */
export async function findHomes(homedir: string): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  for (const name of [".maxclaw", ".nanobot", ".openclaw", ".clawdbot", ".moltbot"]) {
    const folder = join(homedir, name);
    const kind = await kindOf(folder);
    if (kind !== undefined) found.push({ folder, kind });
  }
  return found;
}
