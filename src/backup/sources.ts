import { readlink, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { isMissing } from "../util/error-code.js";
import { HeldFolder } from "../util/files/held-folder.js";

/** Something that goes into a backup. */
export interface Source {
  /** In the archive: `home/…` or `workspace/…`. */
  readonly path: string;
  readonly type: "file" | "folder" | "link";
  /** Where it is now. */
  readonly from: string;
  /** Only so much of its beginning. */
  readonly bytes?: number | undefined;
  /** Instead of what the file holds. */
  readonly content?: Buffer | undefined;
  readonly target?: string | undefined;
  /** In a folder that was looked through, where commands may put a link in its place: only the file itself counts. */
  readonly isFound?: boolean | undefined;
  /** Without it a backup is worth nothing. */
  readonly isNeeded?: boolean | undefined;
}

export interface BackupPlan {
  readonly home: string;
  readonly workspace: string;
  /** The config as it should be in the backup; undefined: there is none. */
  readonly config: { readonly name: string; readonly content: Buffer } | undefined;
  readonly hasSecrets: boolean;
  /** What of the journal counts, and since when the files are still, where a gateway runs. */
  readonly held: { readonly path: string; readonly bytes: number; readonly sinceMs: number } | undefined;
  /** Absolute paths that are not part of it, such as the backup itself. */
  readonly exclude: readonly string[];
}

export type LeaveOut = (path: string, why: string) => void;

const sessionsName = ".sessions";
const stateFiles = ["format.json", "gateway.events.jsonl", "gateway.events.jsonl.1"];
const settingsFiles = ["config.json", "config.yaml", "secrets.json"];

/** What a home has of programs, which run it, and what they find or make again: in no backup, and no place for a workspace. */
export const programParts: ReadonlySet<string> = new Set([
  ...["versions", "packages", "cache", "backups", "logs", "browser", "terminals", "mcp", "search", "push-key.json"],
]);

/** Whether a backup can hold this: the same that {@link listStateSources} and {@link listOtherSources} find, by their paths. */
export function mayHold(path: string): boolean {
  const [root, top, ...below] = path.split("/");
  if (top === undefined) return true;
  if (root === "workspace") return top !== sessionsName || !below.some(isLock);
  return top === "journal" || (below.length === 0 && [...stateFiles, ...settingsFiles].includes(top));
}

/** The journal, the session logs and documents: all of one moment while the files are held. */
export async function* listStateSources(plan: BackupPlan, leaveOut: LeaveOut): AsyncGenerator<Source> {
  const { held } = plan;
  const home = await readRealPath(plan.home);
  const isOfMoment = (name: string): boolean => {
    if (name.endsWith(".tmp")) return false;
    return held === undefined || name === basename(held.path) || name === "seen" || name.endsWith(".ids");
  };
  for await (const source of walk(join(home, "journal"), "home/journal", leaveOut, isOfMoment)) {
    // The files of accepted ids beside the journal stand still while it is held.
    const { bytes } = source.from.endsWith(".log") ? { bytes: held?.bytes } : { bytes: undefined };
    yield { ...source, isNeeded: source.type === "file", ...(source.type === "file" ? { bytes } : {}) };
  }
  for (const name of stateFiles) yield { path: `home/${name}`, type: "file", from: join(home, name) };
  const sessions = await readRealPath(join(plan.workspace, sessionsName));
  for await (const source of walk(sessions, `workspace/${sessionsName}`, leaveOut, isState))
    yield isLog(source) ? { ...source, isNeeded: true } : source;
}

/** Everything else: config, and what is in the workspace. */
export async function* listOtherSources(plan: BackupPlan, leaveOut: LeaveOut): AsyncGenerator<Source> {
  const { home, config, hasSecrets, workspace, exclude } = plan;
  if (config !== undefined)
    yield { path: `home/${config.name}`, type: "file", from: join(home, config.name), content: config.content };
  if (hasSecrets) yield { path: "home/secrets.json", type: "file", from: join(home, "secrets.json") };
  const root = await readRealPath(workspace);
  const skipped = new Set([join(root, sessionsName), ...exclude]);
  const isWanted = (_name: string, path: string): boolean => !skipped.has(path);
  yield* walk(root, "workspace", leaveOut, isWanted);
}

/** A document that was written after the moment may show what the logs do not hold: it is written again from them. */
export function isAfterMoment({ path }: Source, modifiedAt: number, { held }: BackupPlan): boolean {
  return held !== undefined && modifiedAt >= held.sinceMs && /^workspace\/\.sessions\/[^/]+\.json$/.test(path);
}

function isLog({ path }: Source): boolean {
  return path.endsWith(".events.jsonl");
}

/**
 * Not locks, nor files on their way to another name, nor the list of sessions: it is only a cache, and tells about deleted ones for
 * a second. Nor the mark of the journal, which goes on while this is read and would be ahead of the copy.
 */
function isState(name: string): boolean {
  const isLeftOut = isLock(name) || name === ".index.jsonl" || name === ".journal.mark";
  return !isLeftOut && !/\.jsonl?\.\d+$/.test(name);
}

function isLock(name: string): boolean {
  return name.startsWith(".lock");
}

/** A folder and everything below it, in order of names. */
async function* walk(
  from: string,
  path: string,
  leaveOut: LeaveOut,
  isWanted: (name: string, from: string) => boolean,
): AsyncGenerator<Source> {
  let found: readonly Source[];
  try {
    found = await sourcesIn(from, path, leaveOut, isWanted);
  } catch (error) {
    if (!isMissing(error)) leaveOut(path, error instanceof Error ? error.message : String(error));
    return;
  }
  yield { path, type: "folder", from };
  for (const source of found) {
    if (source.type === "folder") yield* walk(source.from, source.path, leaveOut, isWanted);
    else yield source;
  }
}

async function sourcesIn(
  from: string,
  path: string,
  leaveOut: LeaveOut,
  isWanted: (name: string, from: string) => boolean,
): Promise<readonly Source[]> {
  await using held = await HeldFolder.open(from);
  const found: Source[] = [];
  for (const entry of (await held.entries()).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = { path: `${path}/${entry.name}`, from: join(from, entry.name), isFound: true };
    if (!isWanted(entry.name, inner.from)) continue;
    if (entry.isDirectory()) found.push({ ...inner, type: "folder" });
    else if (entry.isFile()) found.push({ ...inner, type: "file" });
    else if (!entry.isSymbolicLink()) leaveOut(inner.path, "it is neither a file nor a folder");
    else found.push({ ...inner, type: "link", target: await readlink(held.at(entry.name)) });
  }
  return found;
}

async function readRealPath(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}
