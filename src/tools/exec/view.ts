import type { Dirent } from "node:fs";
import { lstat, mkdir, readdir, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import { outsideResults, receivedFiles, type Zones } from "../../policy/zones.js";

const maxEntries = 20_000;

/** What a command of one session gets to see of the workspace. All paths are real. */
export interface View {
  readonly workspace: string;
  /** The workspace as it is configured, when that is a link. */
  readonly alias?: string | undefined;
  /** The gateway's own folder, closed wherever it lies. The workspace may lie in it. */
  readonly home?: string | undefined;
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
  /** True when files can be read that came with messages: others may have written them. */
  readonly showsReceived: boolean;
}

export interface ViewOptions {
  readonly workspace: string;
  readonly folder: string;
  readonly home?: string | undefined;
  /** Whether the command is to see the files that came with messages. */
  readonly received: boolean;
  /** Whether policy lets this session read a place of the workspace. */
  readonly mayRead: (target: string) => boolean;
}

/**
 * Asks the same zones and rules as the file tools do about each entry, and makes the session's folder. Undefined when that folder
 * is not what it should be: somebody has put a link in its place.
 */
export async function viewOf(places: ViewOptions, zones: Pick<Zones, "zoneOf">): Promise<View | undefined> {
  await mkdir(places.folder, { recursive: true, mode: 0o700 });
  const workspace = await realpath(places.workspace);
  const folder = await realpath(places.folder);
  if (zones.zoneOf(folder, places.folder) !== "own") return undefined;
  const isHidden = (target: string): boolean =>
    !["workspace", "skills", "steering", "memory"].includes(zones.zoneOf(target, folder)) || !places.mayRead(target);

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
  const received = path.join(folder, receivedFiles);
  const results = path.join(folder, path.dirname(outsideResults));
  const kept = [];
  for (const one of [results, received]) if (await makeFolder(one)) kept.push(one);
  const outside = path.join(folder, outsideResults);
  if (kept.includes(results) && (await makeFolder(outside))) hidden.push({ path: outside, kind: "folder" });
  // An empty one is hidden as well: what comes while the command runs would not be known to come from others.
  const showsReceived = places.received && kept.includes(received) && (await entriesOf(received)).length > 0;
  if (kept.includes(received) && !showsReceived) hidden.push({ path: received, kind: "folder" });
  const alias = path.resolve(places.workspace);
  return {
    workspace,
    folder,
    shown,
    kept,
    links,
    hidden,
    tooLarge,
    showsReceived,
    ...(alias === workspace ? {} : { alias }),
    ...(places.home === undefined ? {} : { home: await realpath(places.home) }),
  };
}

/**
 * What comes from outside stays marked as such, and where the gateway puts it. So its places are there before a command
 * could make something else of them, such as a link that leads the gateway elsewhere, and cannot be changed or moved.
 */
async function makeFolder(target: string): Promise<boolean> {
  await mkdir(target, { mode: 0o700 }).catch(() => undefined);
  return await lstat(target).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
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
