import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { journalFolder, listSegments } from "../../engine/embedded/journal/segment.js";
import type { EmbeddedSource } from "../../engine/embedded/moving/source.js";
import { loadPostgres } from "../../engine/postgres/load-packages.js";
import type { MovingOptions } from "../../engine/postgres/moving/open.js";
import { ConfigError } from "../../errors.js";
import { systemKey } from "../../events/session-key.js";
import { type Logger, silentLog } from "../../log.js";
import { createSessionFiles, gatewayLogName, keyOfLog, logsIn, logsMarkPath } from "../../sessions/file-names.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { lockFiles } from "../files.js";
import { findShortLogs } from "../sessions/short-logs.js";
import { forgetCluster, readClusterMark } from "./cluster-mark.js";
import { copyEngine, type Moved } from "./copy.js";
import { assertMoved, type MoveNote, readMoveNote, removeMoveNote, writeMoveNote } from "./note.js";
import { putAside, useUsualFolders } from "./put-aside.js";

export interface MoveOptions {
  readonly home: string;
  readonly workspace: string;
  readonly database: Pick<MovingOptions, "url" | "schema">;
  /** Nothing is changed: only what would be moved is counted. */
  readonly isTrial: boolean;
  readonly onProgress: (sessions: number, events: number) => void;
  readonly log?: Logger;
  readonly signal: AbortSignal;
}

export interface MoveResult extends Moved {
  /** Where the files are that nothing reads any more. */
  readonly aside: readonly string[];
}

/**
 * Moves everything of the embedded engine into a schema, and puts its files aside. The same call goes on where one was cut off.
 *
 * @throws {EngineError} a gateway runs, something is damaged, the database cannot be used, or the schema is not empty
 */
export async function moveToPostgres(options: MoveOptions): Promise<MoveResult> {
  const { home, workspace, isTrial, onProgress, signal, log = silentLog } = options;
  const sessionsDir = join(workspace, ".sessions");
  return await locked(options, async () => {
    const mark = readClusterMark(sessionsDir) ?? readClusterMark(home);
    if (mark !== undefined)
      throw new ConfigError(`The conversations of ${home} are in a database already (schema ${mark.schema}).`);
    if (readMoveNote(home) === undefined && segmentsOf(home).length === 0)
      throw new ConfigError(`${home} holds no conversations of the embedded engine: there is nothing to move.`);
    const note = noteFor(options, "postgres");
    if (note.isDone) return { ...nothing, aside: leave(home, sessionsDir) };
    const [short] = await findShortLogs({ workspace });
    if (short !== undefined)
      throw new ConfigError(`The log of ${short.sessionKey} is not whole. Run "maxclaw repair" first.`);
    const [{ openTarget }, modules] = await Promise.all([
      import("../../engine/postgres/moving/open.js"),
      loadPostgres(home),
    ]);
    const open = () => openTarget({ ...options.database, modules, id: note.id, home, log });
    const target = isTrial ? undefined : await orForget(home, note, open);
    await using _closing = target;
    const isThere = (await target?.isDone()) === true;
    const copy = async (): Promise<Moved> =>
      await copyEngine(await openFiles(home, sessionsDir, log), { target, onProgress, signal });
    const moved = isThere ? nothing : await copy();
    if (isTrial) return { ...moved, aside: [] };
    endMove(home, note);
    return { ...moved, aside: leave(home, sessionsDir) };
  });
}

/**
 * Moves everything in a schema into the files of a home that has none, and closes the schema to gateways. The same call goes on
 * where one was cut off.
 *
 * @throws {EngineError} a gateway works with the schema or in the home, or the database cannot be used
 */
export async function moveToFiles(options: MoveOptions): Promise<MoveResult> {
  const { home, workspace, isTrial, onProgress, signal, log = silentLog } = options;
  const sessionsDir = join(workspace, ".sessions");
  return await locked(options, async () => {
    const [old] = [...segmentsOf(home), ...logsOf(home, sessionsDir).map(({ path }) => path)];
    if (old !== undefined && readMoveNote(home)?.to !== "embedded")
      throw new ConfigError(`${home} holds conversations of the embedded engine, e.g. ${old}. Set another home.`);
    const note = noteFor(options, "embedded");
    const moved = note.isDone ? nothing : await copyToFiles(options, note, { onProgress, signal, log });
    if (isTrial) return { ...moved, aside: [] };
    forgetCluster([sessionsDir, home]);
    removeMoveNote(home);
    return { ...moved, aside: [] };
  });
}

async function copyToFiles(
  { home, workspace, database, isTrial }: MoveOptions,
  note: OwnNote,
  { onProgress, signal, log }: Pick<MoveOptions, "onProgress" | "signal"> & { readonly log: Logger },
): Promise<Moved> {
  const [{ openSource }, { EmbeddedTarget }, modules] = await Promise.all([
    import("../../engine/postgres/moving/open.js"),
    import("../../engine/embedded/moving/target.js"),
    loadPostgres(home),
  ]);
  const sessionsDir = join(workspace, ".sessions");
  const open = () => openSource({ ...database, modules, id: note.id, home, log, isTrial }, signal);
  const { source, done } = await orForget(home, note, open);
  await using _closing = source;
  const target = new EmbeddedTarget({
    home,
    logPathOf: logPathsOf(home, sessionsDir),
    sessions: () => logsOf(home, sessionsDir),
  });
  const moved = await copyEngine(source, { target: isTrial ? undefined : target, onProgress, signal });
  if (isTrial) return moved;
  await done();
  endMove(home, note);
  return moved;
}

const ownKey = systemKey("local");
const nothing: Moved = { sessions: 0, events: 0, messages: 0, replies: 0, deadLetters: 0, records: 0 };

async function locked<T>({ home, workspace }: MoveOptions, work: () => Promise<T>): Promise<T> {
  await makeFolder(join(workspace, ".sessions"));
  const locks = await lockFiles(home, workspace);
  try {
    return await work();
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function openFiles(home: string, sessionsDir: string, log: Logger): Promise<EmbeddedSource> {
  const { EmbeddedSource } = await import("../../engine/embedded/moving/source.js");
  const sessions = (): ReturnType<typeof logsOf> => logsOf(home, sessionsDir);
  return await EmbeddedSource.open({
    home,
    sessions,
    logs: {
      pathOf: logPathsOf(home, sessionsDir),
      all: () => sessions().map(({ path }) => path),
      mark: logsMarkPath(sessionsDir),
    },
    log,
  });
}

function logPathsOf(home: string, sessionsDir: string): (key: string) => string {
  const files = createSessionFiles(sessionsDir);
  return (key) => (key === ownKey ? join(home, gatewayLogName) : files.logPath(key));
}

function logsOf(home: string, sessionsDir: string): readonly { readonly key: string; readonly path: string }[] {
  const own = join(home, gatewayLogName);
  return [...(existsSync(own) ? [own] : []), ...logsIn(sessionsDir)].flatMap((path) => {
    const key = keyOfLog(path);
    return key === undefined ? [] : [{ key, path }];
  });
}

function segmentsOf(home: string): readonly string[] {
  const folder = journalFolder(home);
  return existsSync(folder) ? listSegments(folder).map(({ path }) => path) : [];
}

/** Everything is in the database: nothing finds the files any more. */
function leave(home: string, sessionsDir: string): readonly string[] {
  useUsualFolders(
    sessionsDir,
    logsOf(home, sessionsDir).map(({ key }) => key),
  );
  const aside = putAside(home, sessionsDir, new Date().toISOString().slice(0, 19).replaceAll(":", "-"));
  removeMoveNote(home);
  return aside;
}

function endMove(home: string, { id, to }: MoveNote): void {
  writeMoveNote(home, { id, to, isDone: true });
}

interface OwnNote extends MoveNote {
  /** This call has written it. */
  readonly isFresh: boolean;
}

/** The note of this move; there is one from now on. @throws {ConfigError} the home is on its way to the other engine */
function noteFor({ home, isTrial }: MoveOptions, to: MoveNote["to"]): OwnNote {
  const there = readMoveNote(home);
  if (there !== undefined && there.to !== to) assertMoved(home);
  const note = there ?? { id: randomUUID(), to, isDone: false };
  const isFresh = there === undefined && !isTrial;
  if (isFresh) writeMoveNote(home, note);
  return { ...note, isFresh };
}

/** Where the other side does not let anybody begin, nothing is on its way. */
async function orForget<T>(home: string, { isFresh }: OwnNote, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (isFresh) removeMoveNote(home);
    throw error;
  }
}
