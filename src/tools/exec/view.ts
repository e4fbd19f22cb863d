import type { Dirent } from "node:fs";
import { lstat, mkdir, readdir, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import { outsideResults, type Zones } from "../../policy/zones.js";

const maxEntries = 20_000;

/** What a command of one session gets to see of the workspace. All paths are real. */
export interface View {
  readonly workspace: string;
  /** The workspace as it is configured, when that is a link. */
  readonly alias?: string | undefined;
  /** The session's own folder: the only place that can be written. */
  readonly folder: string;
  /** Files and folders of the workspace that can be read. */
  readonly shown: readonly string[];
  /** Below the folder, and not to be changed or moved. */
  readonly kept: readonly string[];
  /** Links directly in the workspace, which lead only to what is shown as well. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Below what is shown or below the folder, and closed all the same. */
  readonly hidden: readonly { readonly path: string; readonly kind: "file" | "folder" }[];
  /** Left out because there is too much in it to look through. */
  readonly tooLarge: readonly string[];
}

/**
 * Asks the same zones as the file tools do about each entry, and makes the session's folder. Undefined when that folder
 * is not what it should be: somebody has put a link in its place.
 */
export async function viewOf(
  places: { readonly workspace: string; readonly folder: string },
  zones: Pick<Zones, "zoneOf">,
): Promise<View | undefined> {
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  const workspace = await realpath(places.workspace);
  const folder = await realpath(places.folder);
  if (zones.zoneOf(folder, places.folder) !== "own") return undefined;
  const isHidden = (target: string): boolean => !["workspace", "steering"].includes(zones.zoneOf(target, folder));

  const shown: string[] = [];
  const links: { path: string; target: string }[] = [];
  const hidden: { path: string; kind: "file" | "folder" }[] = [];
  const tooLarge: string[] = [];
  let left = maxEntries;
  for (const entry of await entriesOf(workspace)) {
    const full = path.join(workspace, entry.name);
    if (isHidden(full)) continue;
    if (entry.isSymbolicLink()) links.push({ path: full, target: await readlink(full) });
    else if (entry.isFile()) shown.push(full);
    else if (entry.isDirectory()) {
      const found = await hiddenBelow(full, isHidden, left);
      left -= found.looked;
      if (found.isCut) tooLarge.push(entry.name);
      else {
        shown.push(full);
        hidden.push(...found.hidden);
      }
    }
  }
  const kept = await keepOutsideMarked(folder);
  hidden.push(...kept.map((one) => ({ path: path.join(one, path.basename(outsideResults)), kind: "folder" as const })));
  const alias = path.resolve(places.workspace);
  return {
    workspace,
    folder,
    shown,
    kept,
    links,
    hidden,
    tooLarge,
    ...(alias === workspace ? {} : { alias }),
  };
}

/**
 * Results from outside stay marked as such: only read_file knows how. So their place is there before a command could
 * make something else of it, cannot be moved away, and is not shown.
 */
async function keepOutsideMarked(folder: string): Promise<readonly string[]> {
  const outside = path.join(folder, outsideResults);
  await mkdir(outside, { recursive: true }).catch(() => undefined);
  const isFolder = async (target: string): Promise<boolean> => (await lstat(target)).isDirectory();
  try {
    return (await isFolder(path.dirname(outside))) && (await isFolder(outside)) ? [path.dirname(outside)] : [];
  } catch {
    return [];
  }
}

async function hiddenBelow(root: string, isHidden: (target: string) => boolean, limit: number) {
  const hidden: { path: string; kind: "file" | "folder" }[] = [];
  const waiting = [root];
  let looked = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await entriesOf(folder)) {
      looked += 1;
      if (looked > limit) return { hidden, looked: limit, isCut: true };
      const full = path.join(folder, entry.name);
      // A link leads only to what is shown anyway.
      if (entry.isSymbolicLink()) continue;
      if (isHidden(full)) hidden.push({ path: full, kind: entry.isDirectory() ? "folder" : "file" });
      else if (entry.isDirectory()) waiting.push(full);
    }
  }
  return { hidden, looked, isCut: false };
}

/** A folder that we may not look into shows nothing to a command either. */
async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}
