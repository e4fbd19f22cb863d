import { mkdir, readdir, rename, rm, rmdir, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { extractBackup, type Inspected } from "../backup/extract.js";
import { programParts } from "../backup/sources.js";
import { assertHomeFormat } from "../engine/embedded/home-format.js";
import { noteRestored, type RestoredWork } from "../engine/embedded/journal/restored.js";
import { EngineError } from "../errors.js";
import { systemKey } from "../events/session-key.js";
import { type Logger, silentLog } from "../log.js";
import { createSessionFiles, gatewayLogName, logsMarkPath } from "../sessions/file-names.js";
import { isMissing } from "../util/error-code.js";
import { nearest } from "../util/files/free-room.js";
import { makeFolder } from "../util/files/make-folder.js";
import { syncPath } from "../util/files/sync-path.js";
import { reasonOf } from "../util/files/system-fault.js";
import { isInside, lockFiles } from "./files.js";
import { removeLeftovers, restoreMarker, stagingName } from "./unfinished.js";

export { inspectBackup } from "../backup/extract.js";

export interface RestoreRequest {
  readonly file: string;
  readonly inspected: Inspected;
  readonly home: string;
  readonly workspace: string;
  /** The workspace is not where the config in the backup puts it: called with the folder of the new home, to change that. */
  readonly moveWorkspace?: ((home: string) => Promise<void>) | undefined;
  /** Puts aside what is there. */
  readonly force: boolean;
  /** Which files, by their paths in the archive. Default: all. */
  readonly wants?: (path: string) => boolean;
  readonly log?: Logger;
}

export interface Restored {
  /** Where that is which was there before. */
  readonly aside: readonly string[];
  /** Undefined when the journal in the backup has to be repaired first. */
  readonly waiting: RestoredWork | undefined;
  readonly problem: string | undefined;
}

/**
 * Puts an inspected backup in place of a home and its workspace. It is written beside them first and opened once;
 * only then are the old files moved aside and the new ones in. Nothing is ever deleted.
 *
 * @throws {EngineError} `locked` when a gateway runs, `persistence` when something is in the way or the disk refuses
 */
export async function restoreBackup(request: RestoreRequest, signal: AbortSignal): Promise<Restored> {
  const { inspected, home, workspace, force, moveWorkspace, wants = () => true } = request;
  const isMoved = moveWorkspace !== undefined;
  assertOwnPlace(home, workspace, isMoved);
  const roots = isInside(workspace, home) ? [home] : [home, workspace];
  if (!force) for (const root of roots) await assertEmpty(root, adviceFor(root === home, isMoved));
  const files = inspected.manifest.files.filter(({ path }) => wants(path));
  const missing = (await Promise.all(roots.map(missingFolders))).flat();
  try {
    await makeFolder(home);
    const locks = await lockFiles(home, workspace, { isReplaced: true });
    try {
      await assertRoom({ home, workspace }, files);
      return await replaceLocked({ ...request, roots, files, locks }, signal);
    } finally {
      for (const lock of locks) lock.release();
    }
  } catch (error) {
    // What holds something stays.
    for (const folder of missing) await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

interface LockedRestore extends RestoreRequest {
  readonly roots: readonly string[];
  readonly files: Inspected["manifest"]["files"];
  readonly locks: Awaited<ReturnType<typeof lockFiles>>;
}

async function replaceLocked(
  { file, home, workspace, roots, files, locks, moveWorkspace, log = silentLog }: LockedRestore,
  signal: AbortSignal,
): Promise<Restored> {
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const stagingOf = (root: string): string => join(root, stagingName(stamp));
  const isWorkspaceInside = !roots.includes(workspace);
  const staged = {
    home: stagingOf(home),
    workspace: isWorkspaceInside ? join(stagingOf(home), relative(home, workspace)) : stagingOf(workspace),
  };
  let opened: Pick<Restored, "waiting" | "problem">;
  try {
    for (const root of roots) await makeFolder(stagingOf(root));
    await extractBackup(file, files, staged, signal);
    await moveWorkspace?.(staged.home);
    assertHomeFormat(staged.home);
    opened = await openOnce(staged, log);
  } catch (error) {
    for (const root of roots) await rm(stagingOf(root), { recursive: true, force: true });
    if (signal.aborted || error instanceof EngineError) throw error;
    throw new EngineError(`The backup could not be written to ${home}: ${reasonOf(error)}. Nothing was changed.`, {
      kind: "persistence",
      cause: error,
    });
  }
  for (const lock of locks) lock.assertHeld();
  const aside = await swap(roots, stagingOf, stamp, file);
  // One that was cut off while it put its files into place had more.
  removeLeftovers(roots, log);
  return { aside, ...opened };
}

/** @throws {EngineError} when files of the workspace would be taken for the home's own, of which some are run */
function assertOwnPlace(home: string, workspace: string, isMoved: boolean): void {
  const [top = ""] = relative(home, workspace).split(sep);
  if (!isInside(home, workspace) && !programParts.has(top) && !staying.test(top)) return;
  const who = isMoved ? "--workspace" : "The config in the backup";
  throw new EngineError(
    `${who} puts the workspace at ${workspace}, where maxclaw has its own files. Nothing was changed.`,
    { kind: "corrupt" },
  );
}

/** What of a path is not there, the innermost first. */
async function missingFolders(folder: string): Promise<readonly string[]> {
  const there = await nearest(folder);
  const missing: string[] = [];
  for (let at = folder; at !== there; at = dirname(at)) missing.push(at);
  return missing;
}

/** What happened, and what to do, where the home or the workspace is not empty. */
function adviceFor(isHome: boolean, isMoved: boolean): string {
  const aside = "Nothing was changed. Use --force to set aside what is there, or";
  if (isHome) return `${aside} another MAXCLAW_HOME.`;
  if (isMoved) return `${aside} another --workspace.`;
  return `agents.defaults.workspace in the backup's config puts the workspace there; another home may be using it. ${aside} put it elsewhere with --workspace <folder>.`;
}

/** @throws {EngineError} when there is something in the folder */
async function assertEmpty(root: string, advice: string): Promise<void> {
  const names = await entriesOf(root);
  if (names.length === 0) return;
  throw new EngineError(
    `${root} is not empty (${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}). ${advice}`,
    { kind: "persistence", retryable: false },
  );
}

/** What is left of a disk for everything else. */
const spareBytes = 64 * 1024 * 1024;
const blockBytes = 4096;

/** @throws {EngineError} when the files would fill a disk */
async function assertRoom(
  { home, workspace }: { readonly home: string; readonly workspace: string },
  files: Inspected["manifest"]["files"],
): Promise<void> {
  const disks = new Map<number, { readonly folder: string; bytes: number }>();
  for (const [root, folder] of Object.entries({ home, workspace })) {
    const { dev } = await stat(await nearest(folder));
    const disk = disks.get(dev) ?? { folder, bytes: 0 };
    for (const { path, bytes } of files) if (path.startsWith(`${root}/`)) disk.bytes += bytes + blockBytes;
    disks.set(dev, disk);
  }
  const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);
  for (const { folder, bytes } of disks.values()) {
    const { bavail, bsize } = await statfs(await nearest(folder));
    const room = bavail * bsize;
    if (bytes === 0 || bytes + spareBytes <= room) continue;
    throw new EngineError(
      `The disk of ${folder} has ${Math.floor(room / 1024 ** 2)} MB free. The restore needs ${megabytes(bytes + spareBytes)} MB: ${megabytes(bytes)} MB for the backup, and ${megabytes(spareBytes)} MB that stay free. Nothing was changed. Make room first.`,
      { kind: "persistence", retryable: false },
    );
  }
}

/** What is never put aside: our own locks and unfinished work, and programs with their backups, which are not data. */
const staying = /^(?:gateway\.lock|\.restore-|before-restore-|(?:update\.lock|updates\.jsonl|versions|backups)$)/;

/** What is in a folder besides {@link staying}. */
async function entriesOf(root: string): Promise<readonly string[]> {
  const names = await readdir(root).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names.filter((name) => !staying.test(name) && name !== restoreMarker);
}

/** A look whether the files can be worked with. A journal that has to be repaired is told, and repaired by its owner. */
async function openOnce(
  { home, workspace }: { readonly home: string; readonly workspace: string },
  log: Logger,
): Promise<Pick<Restored, "waiting" | "problem">> {
  const dir = join(workspace, ".sessions");
  await makeFolder(dir);
  const files = createSessionFiles(dir);
  const gatewayKey = systemKey("local");
  try {
    const waiting = await noteRestored({
      home,
      logs: {
        pathOf: (key) => (key === gatewayKey ? join(home, gatewayLogName) : files.logPath(key)),
        mark: logsMarkPath(dir),
      },
      publish: () => {},
      instanceId: "gw_restore",
      log,
      process: { onFatal: () => {} },
    });
    return { waiting, problem: undefined };
  } catch (error) {
    if (error instanceof EngineError && error.kind === "corrupt") return { waiting: undefined, problem: error.message };
    throw error;
  }
}

/** Moves what is there aside and the new files in. While this is under way a marker keeps gateways from starting. */
async function swap(
  roots: readonly string[],
  stagingOf: (root: string) => string,
  stamp: string,
  file: string,
): Promise<readonly string[]> {
  const [home = ""] = roots;
  const marker = join(home, restoreMarker);
  const aside: string[] = [];
  await writeFile(marker, `${file}\n`, { mode: 0o600 });
  for (const root of roots) {
    const before = join(root, `before-restore-${stamp}`);
    const names = await entriesOf(root);
    if (names.length > 0) {
      await mkdir(before, { mode: 0o700 });
      aside.push(before);
    }
    for (const name of names) await rename(join(root, name), join(before, name));
    for (const name of await readdir(stagingOf(root))) await rename(join(stagingOf(root), name), join(root, name));
    await rm(stagingOf(root), { recursive: true });
    await syncPath(root);
  }
  await rm(marker);
  await syncPath(home);
  return aside;
}
