import { lstat, readdir, realpath, symlink } from "node:fs/promises";
import path from "node:path";
import { isInside } from "../../../policy/locations/paths.js";
import {
  artifactFiles,
  keptFolderOf,
  outsideResults,
  receivedFiles,
  type Zones,
} from "../../../policy/locations/zones.js";
import { makeFolder } from "../../../util/files/make-folder.js";
import type { Survey, Surveyor } from "./survey.js";

const maxEntries = 20_000;

/** Of what the gateway keeps of a session, and by the short names that people and models know. */
const results = path.dirname(outsideResults);
const keptNames: ReadonlySet<string> = new Set([results, artifactFiles, "plan.json"]);
const shortNames = [receivedFiles, results, artifactFiles];

/** What a command of one session gets to see. All paths are real. */
export interface View {
  readonly workspace: string;
  /** The workspace as it is configured, when that is a link. */
  readonly alias?: string | undefined;
  /** The gateway's own folder, closed wherever it lies. The workspace may lie in it. */
  readonly home?: string | undefined;
  /** The session's own folder: the only place that can be written. */
  readonly folder: string;
  /** What the gateway keeps of the session. */
  readonly kept: string;
  /** All that can be read below the workspace and the kept folder, one by one. */
  readonly shown: Survey;
  /** Holds exactly that, as `workspace` and `kept`, for a sandbox that can put it in their places. */
  readonly tree: string | undefined;
  /** True when files can be read that came with messages, and that others may have written. */
  readonly showsReceived: boolean;
}

export interface ViewOptions {
  readonly workspace: string;
  readonly folder: string;
  readonly home?: string | undefined;
  /** Which of the files that came with messages the command is to see; `own`: those of `isOwnUpload`. */
  readonly received: "all" | "own" | "none";
  /** Whether a file that came with a message is the own one of whom the command is for. */
  readonly isOwnUpload: (target: string) => boolean;
  /** Whether policy lets this session read a place. */
  readonly mayRead: (target: string) => boolean;
}

/**
 * Asks the same zones and rules as the file tools do about each entry, and makes the session's folder. Undefined when
 * that folder is not what it should be: somebody has put a link in its place.
 */
export async function viewOf(
  options: ViewOptions,
  zones: Pick<Zones, "zoneOf">,
  surveyor: Surveyor,
): Promise<View | undefined> {
  const folder = await makeOwnFolder(options.folder, zones);
  if (folder === undefined) return undefined;
  const workspace = await realpath(options.workspace);
  const kept = keptFolderOf(folder);
  await linkShortNames(folder, kept);
  const zoneOf = (target: string) => zones.zoneOf(target, options.folder);
  const shared = await surveyor.look(
    workspace,
    (target) => sharedZones.has(zoneOf(target)) && options.mayRead(target),
    maxEntries,
  );
  const outside = path.join(kept, outsideResults);
  const received = path.join(kept, receivedFiles);
  const comesFromOthers = (file: string): boolean => isInside(received, file) && !options.isOwnUpload(file);
  const own = await surveyor.look(
    kept,
    (target) =>
      isKeptShown(path.relative(kept, target), options.received !== "none") &&
      (options.received !== "own" || target === received || !comesFromOthers(target)) &&
      target !== outside &&
      zoneOf(target) === "kept" &&
      options.mayRead(target),
    maxEntries,
  );
  const alias = path.resolve(options.workspace);
  return {
    workspace,
    folder,
    kept,
    shown: {
      folders: [...shared.folders, ...own.folders],
      files: [...shared.files, ...own.files],
      links: [...shared.links, ...own.links],
      tooLarge: [...shared.tooLarge, ...own.tooLarge],
    },
    tree: undefined,
    showsReceived:
      options.received === "all" &&
      (own.files.some(({ path: file }) => comesFromOthers(file)) || (await holdsReceived(folder))),
    ...(alias === workspace ? {} : { alias }),
    ...(options.home === undefined ? {} : { home: await realpath(options.home) }),
  };
}

/** The session's own folder as it truly is. Undefined when somebody has put a link in its place. */
export async function makeOwnFolder(folder: string, zones: Pick<Zones, "zoneOf">): Promise<string | undefined> {
  await makeFolder(folder);
  const real = await realpath(folder);
  return zones.zoneOf(real, folder) === "own" ? real : undefined;
}

/** What this session may not read of them, such as what steers the assistant, policy says. */
const sharedZones: ReadonlySet<string> = new Set(["workspace", "steering", "memory", "skills"]);

function isKeptShown(relative: string, received: boolean): boolean {
  const [name = ""] = relative.split(path.sep);
  return keptNames.has(name) || (received && name === receivedFiles);
}

/**
 * For commands only: the gateway itself never follows them. The own folder is the root of what commands can write, so
 * none of them can exchange it, and what is there already stays.
 */
async function linkShortNames(folder: string, kept: string): Promise<void> {
  for (const name of shortNames) {
    if (!(await isFolder(path.join(kept, name)))) continue;
    await symlink(path.join(path.relative(folder, kept), name), path.join(folder, name)).catch(() => undefined);
  }
}

/** In the folders of older sessions they lie in the own folder. */
async function holdsReceived(folder: string): Promise<boolean> {
  const target = path.join(folder, receivedFiles);
  return (await isFolder(target)) && (await readdir(target).catch(() => [])).length > 0;
}

/** A link to one is none. */
async function isFolder(target: string): Promise<boolean> {
  return await lstat(target).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
