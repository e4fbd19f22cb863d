import path from "node:path";
import { shownName } from "../../util/files/file-name.js";
import { trimEndWhere } from "../../util/text/trim-where.js";
import { isInside, resolveFolderSync } from "./paths.js";

/**
 * What a location means to the gateway.
 * `own`: the session's folder. `kept`: what the gateway itself keeps of this session, for tools to read. `private`: the
 * gateway's config, secrets and journal. `hidden`: other sessions and every other name with a dot in front. `skills`:
 * what the assistant can do, for everybody to read. `steering`: what it is told by; `memory`: what it has kept, both the
 * owner's alone. `workspace`: the rest of it.
 */
export type Zone = "own" | "kept" | "private" | "hidden" | "skills" | "steering" | "memory" | "workspace" | "outside";

export interface GatewayFolders {
  readonly workspace: string;
  readonly home?: string | undefined;
}

export interface Zones {
  /** `target` is absolute and resolved. */
  zoneOf(target: string, folder: string): Zone;
  /** A path below the configured workspace as it truly is, when the workspace is reached over a link. */
  toReal(target: string): string;
  /** How a sentence names the location. */
  nameOf(target: string): string;
  /** Who wrote what lies there, when it was none of those who talk here; undefined for everything else. */
  outsideOf(target: string, folder: string): string | undefined;
}

/** Below what is kept of a session: results of tools that came from outside and were too long for the context. */
export const outsideResults = "tool-results/outside";

/** Below what is kept of a session: the files that came with messages. */
export const receivedFiles = "received";

/** Below what is kept of a session: the files for people. */
export const artifactFiles = "artifacts";

/** Below what is kept of a session: pictures of the pages in its browser. */
export const screenshotFiles = "screenshots";

/** How names begin that a session may call what is kept of it by. */
export const keptNames: ReadonlySet<string> = new Set([
  receivedFiles,
  artifactFiles,
  screenshotFiles,
  path.dirname(outsideResults),
]);

const keptFolders = ".kept";

/**
 * Where the gateway keeps what it writes of a session itself (files that came, files for people, long results): beside
 * all session folders, out of reach of everything that may write in those. `folder` is the session's own.
 */
export function keptFolderOf(folder: string): string {
  return path.join(path.dirname(folder), keptFolders, path.basename(folder));
}

/** Also with more behind them: copies (`SOUL.md.bak`) say the same. */
const steeringFile = /^(?:(?:agents|claude|soul|user|guests)\.md|config\.(?:json|ya?ml))[^/]*$/s;
const heartbeatFile = "memory/heartbeat.md";
const privateNames: ReadonlySet<string> = new Set([
  "config.json",
  "config.yaml",
  "config.yml",
  "secrets.json",
  "mcp-auth.json",
  "journal",
  "browser",
  "logs",
  "terminals",
  "mcp",
  "versions",
  "backups",
  "updates.jsonl",
  "format.json",
  "packages",
  "cache",
  "search",
]);

export function createZones(folders: GatewayFolders): Zones {
  const configured = path.resolve(folders.workspace);
  const workspace = resolveFolderSync(folders.workspace);
  // May be a link to another disk; a session's folder below it may not.
  const sessions = resolveFolderSync(path.join(workspace, ".sessions"));
  const skills = resolveFolderSync(path.join(workspace, "skills"));
  const memory = resolveFolderSync(path.join(workspace, "memory"));
  const home = folders.home === undefined ? undefined : resolveFolderSync(folders.home);

  const toReal = (target: string): string => {
    const full = path.resolve(target);
    return isInside(configured, full) ? path.join(workspace, path.relative(configured, full)) : full;
  };

  const isPrivate = (target: string): boolean => {
    if (home === undefined || !isInside(home, target)) return false;
    if (!isInside(workspace, target)) return true;
    const first = path.relative(home, target).split(path.sep)[0] ?? "";
    return privateNames.has(plainName(first));
  };

  const zoneOf = (target: string, folder: string): Zone => {
    if (isPrivate(target)) return "private";
    if (isInside(sessions, target)) {
      const name = sessionFolderName(path.relative(path.join(workspace, ".sessions"), toReal(folder)));
      if (name === undefined) return "hidden";
      if (isInside(keptFolderOf(path.join(sessions, name)), target)) return "kept";
      return isInside(path.join(sessions, name), target) ? "own" : "hidden";
    }
    if (!isInside(workspace, target)) return "outside";
    const parts = path.relative(workspace, target).split(path.sep);
    const plain = parts.map(plainName);
    const name = plain.join("/");
    if (name === ".skills_state.json") return "steering";
    if ([...parts, ...plain].some((part) => part.startsWith("."))) return "hidden";
    if (steeringFile.test(name) || name === heartbeatFile) return "steering";
    if (isInside(memory, target) || plain[0] === "memory") return "memory";
    return isInside(skills, target) || plain[0] === "skills" ? "skills" : "workspace";
  };

  const outsideOf = (target: string, folder: string): string | undefined => {
    const own = resolveFolderSync(folder);
    const lies = (name: string): boolean =>
      [own, keptFolderOf(own)].some((root) => target.startsWith(path.join(root, name) + path.sep));
    if (lies(receivedFiles)) return `the file ${shownName(target)}`;
    if (lies(screenshotFiles)) return `the picture ${path.basename(target)}`;
    return lies(outsideResults) ? `the result in ${path.basename(target)}` : undefined;
  };

  return {
    zoneOf,
    toReal,
    outsideOf,
    nameOf: (target) => (isInside(workspace, target) ? path.relative(workspace, target) || "the workspace" : target),
  };
}

/**
 * What some file systems take a name for: they tell neither AGENTS.md from agents.md nor one Unicode form of a letter from
 * another, pass over signs that are not seen, and drop dots and blanks at the end and what is behind a colon.
 */
function plainName(name: string): string {
  const letters = name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
  return trimEndWhere(letters.replace(/(?<=.):.*$/s, ""), (unit) => unit === "." || unit === " ");
}

/** Only a folder directly in `.sessions` is a session's own: a wider one would open what belongs to others. */
function sessionFolderName(relative: string): string | undefined {
  return relative === "" || relative.startsWith(".") || relative.includes(path.sep) ? undefined : relative;
}
