import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { EngineError, messageOf } from "../../errors.js";
import type { EventDraft, StoredEvent } from "../../events/event.js";
import type { Logger } from "../../log.js";
import { isNewId } from "../../util/ids.js";
import { codeOf, deepFreeze, syncFolder, writeFully } from "./files.js";
import { asKnown, type KnownEvent, type LoggedEvent, readLoggedIds, toLogged } from "./known-ids.js";
import { encodeLine } from "./line.js";
import { checkEnd, findEnd, type LogEnd, readRange, run, runBlocking } from "./log-reading.js";
import { pendingOf, type Session, type SessionTable, trim } from "./session-table.js";

const restingSessions = 64;

interface SessionLogsOptions {
  readonly pathOf: (sessionKey: string) => string;
  readonly log: Logger;
  readonly boundary: (name: string) => void;
  /** Journal bytes up to here are on the disk. */
  readonly syncedPosition: () => number;
  /** Throws when another process may use the files too. */
  readonly assertAlone: () => void;
}

/** The session logs on the disk, and which sessions stay in memory. */
export class SessionLogs {
  readonly #table: SessionTable;
  readonly #options: SessionLogsOptions;
  /** Sessions at rest that still have events in memory, the longest unused first. */
  readonly #resting = new Map<string, Session>();
  readonly #unsyncedFiles = new Set<string>();
  readonly #unsyncedFolders = new Set<string>();

  constructor(table: SessionTable, options: SessionLogsOptions) {
    this.#table = table;
    this.#options = options;
  }

  /**
   * The session, compared with its log on first use.
   *
   * @throws {EngineError} `persistence` when the log cannot be read
   */
  open(key: string): Session {
    const session = this.#table.find(key) ?? this.#table.add(key);
    if (session.logBytes === undefined) {
      try {
        this.#compare(session);
      } catch (error) {
        this.#table.forget(session);
        throw this.#unusable(key, "read", error);
      }
    }
    this.#rest(session);
    return session;
  }

  /** Events with seq > afterSeq, from the log and from memory. */
  async read(session: Session, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const inMemory = session.tail.map(({ event }) => event);
    const fromMemory = inMemory.filter(({ seq }) => seq > afterSeq);
    const inFile = Math.min(session.flushedSeq, (inMemory[0]?.seq ?? Number.POSITIVE_INFINITY) - 1);
    if (afterSeq >= inFile || session.logBytes === undefined || session.logBytes === 0)
      return fromMemory.slice(0, limit);
    const wanted = Math.min(limit, inFile - afterSeq);
    const fromFile = await this.#readFile(session.key, session.logBytes, afterSeq, wanted);
    return [...fromFile, ...fromMemory].slice(0, limit);
  }

  /** The stored event with the draft's id. Ids that were made for one use are looked for in memory alone. */
  find(session: Session, draft: EventDraft): KnownEvent | undefined {
    const seq = this.#table.seqOf(session, draft.event_id);
    if (seq !== undefined) {
      const entry = session.tail.find(({ event }) => event.seq === seq);
      return entry === undefined ? { seq, isChanged: false } : asKnown(entry.event, draft);
    }
    if (isNewId(draft.event_id)) return undefined;
    session.loggedIds ??= this.#readLogged(session);
    const logged = session.loggedIds.get(draft.event_id);
    return logged === undefined ? undefined : asKnown(logged, draft);
  }

  /**
   * Appends to the session log what it lacks and the journal has on the disk; false when some events have to wait.
   *
   * @throws {EngineError} `persistence`: the events stay in the journal
   */
  flush(session: Session): boolean {
    if (pendingOf(session).length === 0) return true;
    this.open(session.key);
    const pending = pendingOf(session);
    const ready = pending.filter(({ position }) => position <= this.#options.syncedPosition());
    const last = ready.at(-1);
    if (last === undefined) return pending.length === 0;
    this.#options.assertAlone();
    this.#options.boundary("session-log:before-write");
    try {
      this.#append(session, Buffer.concat(ready.map(({ event }) => encodeLine(JSON.stringify(event)))));
    } catch (error) {
      session.logBytes = undefined;
      throw this.#unusable(session.key, "written", error);
    }
    session.flushedSeq = last.event.seq;
    this.#options.boundary("session-log:after-write");
    trim(session);
    return ready.length === pending.length;
  }

  /**
   * Syncs all logs that were written since the last time.
   *
   * @throws {EngineError} `persistence` when one could not even be opened; anything else is a failed sync
   */
  async sync(): Promise<void> {
    const files = [...this.#unsyncedFiles];
    const folders = [...this.#unsyncedFolders];
    this.#unsyncedFiles.clear();
    this.#unsyncedFolders.clear();
    try {
      // Node has four threads for files: the journal's syncs must find one free.
      for (let next = 0; next < files.length; next += 2) await Promise.all(files.slice(next, next + 2).map(syncFile));
      for (const folder of folders) await syncFolder(folder);
    } catch (error) {
      for (const path of files) this.#unsyncedFiles.add(path);
      for (const folder of folders) this.#unsyncedFolders.add(folder);
      throw error;
    }
  }

  /** Takes a deleted session's log off the disk. Its tombstone must be synced. */
  remove(key: string): void {
    const tombstone = this.#table.tombstones.get(key);
    this.#options.assertAlone();
    fs.rmSync(this.#options.pathOf(key), { force: true });
    if (tombstone !== undefined) tombstone.isGone = true;
  }

  #compare(session: Session): void {
    const tombstone = this.#table.tombstones.get(session.key);
    const path = this.#options.pathOf(session.key);
    const pending = pendingOf(session)[0]?.event.seq;
    let end: LogEnd = { goodEnd: 0, lastSeq: 0, lastTime: 0 };
    // What a deleted session left behind is removed with the next write; until then it counts for nothing.
    if (tombstone?.isGone !== false) {
      end = findLogEnd(path, session.key, pending, (size, found) => this.#cut(path, size, found, pending));
    }
    if (tombstone !== undefined && end.lastSeq <= tombstone.seq) {
      if (end.goodEnd > 0) tombstone.isGone = false;
      end = { goodEnd: 0, lastSeq: tombstone.seq, lastTime: tombstone.timestamp };
    }
    if (pending !== undefined && end.lastSeq < pending - 1) {
      this.#options.log.error("a session log lacks events that were in it", {
        file: path,
        from: end.lastSeq + 1,
        to: pending - 1,
      });
    }
    // Written by a process that was killed before it synced: the journal may let go of these events only after a sync.
    if (pending !== undefined && end.lastSeq >= pending) this.#markUnsynced(path);
    session.logBytes = end.goodEnd;
    session.flushedSeq = Math.max(end.lastSeq, (pending ?? 0) - 1);
    session.lastSeq = Math.max(session.lastSeq, end.lastSeq);
    session.lastTime = Math.max(session.lastTime, end.lastTime);
  }

  #readLogged(session: Session): Map<string, LoggedEvent> {
    const { key, logBytes = 0 } = session;
    try {
      const known = readLoggedIds(this.#options.pathOf(key), logBytes, this.#table.tombstones.get(key)?.seq ?? 0);
      for (const { event } of session.tail) if (!isNewId(event.event_id)) known.set(event.event_id, toLogged(event));
      return known;
    } catch (error) {
      throw this.#unusable(key, "read", error);
    }
  }

  #markUnsynced(path: string): void {
    this.#unsyncedFiles.add(path);
    this.#unsyncedFolders.add(dirname(path)).add(dirname(dirname(path)));
  }

  /** Takes damaged bytes off the end of a log. They are kept in a file of their own unless the journal has them too. */
  #cut(path: string, size: number, end: LogEnd, pending: number | undefined): void {
    this.#options.assertAlone();
    const isCovered = pending !== undefined && pending <= end.lastSeq + 1;
    const aside = isCovered ? undefined : `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
    if (aside !== undefined) copyRest(path, end.goodEnd, aside);
    this.#options.log.warn("a session log ended in damaged bytes: cut", {
      file: path,
      bytes: size - end.goodEnd,
      ...(aside === undefined ? {} : { keptIn: aside }),
    });
    fs.truncateSync(path, end.goodEnd);
  }

  #append(session: Session, bytes: Buffer): void {
    const path = this.#options.pathOf(session.key);
    if (this.#table.tombstones.get(session.key)?.isGone === false) this.remove(session.key);
    const fd = this.#openForAppend(path);
    try {
      const { size } = fs.fstatSync(fd);
      const expected = session.logBytes ?? 0;
      if (size !== expected)
        throw new Error(`it has ${size} bytes instead of ${expected}: somebody else has changed it`);
      if (size === 0) this.#unsyncedFolders.add(dirname(path));
      this.#unsyncedFiles.add(path);
      try {
        writeFully(fd, bytes);
      } catch (error) {
        fs.ftruncateSync(fd, size);
        throw error;
      }
      session.logBytes = size + bytes.length;
    } finally {
      fs.closeSync(fd);
    }
  }

  #openForAppend(path: string): number {
    try {
      return fs.openSync(path, "a", 0o600);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      this.#unsyncedFolders.add(dirname(dirname(path)));
      return fs.openSync(path, "a", 0o600);
    }
  }

  async #readFile(key: string, size: number, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const path = this.#options.pathOf(key);
    const file = await open(path, "r").catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw this.#unusable(key, "read", error);
    });
    if (file === undefined) return [];
    try {
      const { events, damagedAt } = await run(file, readRange({ size, sessionKey: key }, afterSeq, limit));
      if (damagedAt !== undefined) throw await damagedLog(path, damagedAt);
      return events.map(deepFreeze);
    } finally {
      await file.close();
    }
  }

  /** Only a few sessions keep flushed events in memory; the ones used last. */
  #rest(session: Session): void {
    this.#resting.delete(session.key);
    this.#resting.set(session.key, session);
    if (this.#resting.size <= restingSessions) return;
    for (const [key, oldest] of this.#resting) {
      this.#resting.delete(key);
      this.#table.forget(oldest);
      break;
    }
  }

  #unusable(key: string, verb: string, error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    const path = this.#options.pathOf(key);
    return new EngineError(`The session log ${path} could not be ${verb}: ${messageOf(error)}`, {
      kind: "persistence",
      cause: error,
    });
  }
}

/** Calls `onDamage` first when there are bytes behind the good end. */
function findLogEnd(
  path: string,
  sessionKey: string,
  pending: number | undefined,
  onDamage: (size: number, end: LogEnd) => void,
): LogEnd {
  let fd: number;
  try {
    fd = fs.openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { goodEnd: 0, lastSeq: 0, lastTime: 0 };
    throw error;
  }
  try {
    const { size } = fs.fstatSync(fd);
    const log = { size, sessionKey };
    const end = runBlocking(fd, pending === undefined ? findEnd(log) : checkEnd(log, pending));
    if (end.goodEnd < size) onDamage(size, end);
    return end;
  } finally {
    fs.closeSync(fd);
  }
}

/** Copies a file from an offset on into a new one, a piece at a time, and syncs it. */
function copyRest(path: string, offset: number, target: string): void {
  const from = fs.openSync(path, "r");
  const to = fs.openSync(target, "wx", 0o600);
  try {
    const piece = Buffer.allocUnsafe(1024 * 1024);
    for (let position = offset; ; ) {
      const length = fs.readSync(from, piece, 0, piece.length, position);
      if (length === 0) break;
      writeFully(to, piece.subarray(0, length));
      position += length;
    }
    fs.fdatasyncSync(to);
  } catch (error) {
    fs.rmSync(target, { force: true });
    throw error;
  } finally {
    fs.closeSync(to);
    fs.closeSync(from);
  }
}

async function damagedLog(path: string, offset: number): Promise<EngineError> {
  let line = 1;
  if (offset > 0)
    for await (const chunk of fs.createReadStream(path, { end: offset - 1 })) {
      const bytes: Buffer = chunk;
      for (let lf = bytes.indexOf(0x0a); lf !== -1; lf = bytes.indexOf(0x0a, lf + 1)) line += 1;
    }
  return new EngineError(
    `The session log ${path} is damaged in line ${line} (byte ${offset}). Restore the file from a backup, or remove that line to go on without it.`,
    { kind: "corrupt" },
  );
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new EngineError(`The session log ${path} could not be opened for syncing: ${messageOf(error)}`, {
      kind: "persistence",
      cause: error,
    });
  });
  await file?.datasync().finally(() => file.close());
}
