import * as fs from "node:fs";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";
import { EngineError } from "../../../errors.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { deepFreeze } from "../../../util/deep-freeze.js";
import { codeOf } from "../../../util/error-code.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { appendOnly, openIfThere } from "../../../util/files/real-path.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { reasonOf } from "../../../util/files/system-fault.js";
import { isNewId } from "../../../util/ids.js";
import { type FoundEnd, findLogEnd, readTornTail } from "../damage/log-end.js";
import { damagedCopies, type FoundDamage, type LogToMend, mendLog, setAside } from "../damage/mend-log.js";
import { gapsIn, outside, placeOf, type SeqRange } from "../damage/seq-range.js";
import { writeFully } from "../files.js";
import { encodeLine } from "../journal/line.js";
import { asKnown, type KnownEvent, type LoggedEvent, readLoggedIds, toLogged } from "./known-ids.js";
import { run } from "./line-walk.js";
import { type LogEnd, type LogRange, readRange } from "./log-reading.js";
import { pendingOf, type Session, type SessionTable, trim, trimToGap } from "./session-table.js";
import { thinningPath, writeThinned } from "./thin-log.js";

const restingSessions = 64;

interface SessionLogsOptions {
  readonly pathOf: (sessionKey: string) => string;
  readonly log: Logger;
  readonly boundary: (name: string) => void;
  /** Journal bytes up to here are on the disk. */
  readonly syncedPosition: () => number;
  /** Throws when another process may use the files too. */
  readonly assertAlone: () => void;
  /** Events of a session that the journal holds on the disk, also those that are in the log since long. */
  readonly inJournal: (sessionKey: string) => readonly StoredEvent[];
  /** Which events of a session are known to be lost. */
  readonly knownLoss: (sessionKey: string) => readonly SeqRange[];
  /** The highest number of the session that people were shown. */
  readonly shownSeq: (sessionKey: string) => number;
  /** Called once a log was mended, or events are found to be missing. */
  readonly onDamage: (damage: FoundDamage) => void;
  /** Called before a log loses details: an older program would take it for damaged. */
  readonly beforeThin: () => void;
}

/** The session logs on the disk, and which sessions stay in memory. */
export class SessionLogs {
  readonly #table: SessionTable;
  readonly #options: SessionLogsOptions;
  /** The sessions used last, which alone keep flushed events in memory. */
  readonly #resting: LRUCache<string, Session>;
  readonly #unsyncedFiles = new Set<string>();
  readonly #unsyncedFolders = new Set<string>();

  constructor(table: SessionTable, options: SessionLogsOptions) {
    this.#table = table;
    this.#options = options;
    const dispose = (session: Session): void => table.forget(session);
    this.#resting = new LRUCache({ max: restingSessions, dispose, noDisposeOnSet: true });
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
    this.#resting.set(key, session);
    return session;
  }

  /** Events with seq > afterSeq, from the log and from memory. A log that turns out to be damaged is mended first. */
  async read(session: Session, afterSeq: number, limit: number): Promise<readonly StoredEvent[]> {
    const { tail } = session;
    const first = tail.findLastIndex(({ event }) => event.seq <= afterSeq) + 1;
    const fromMemory = tail.slice(first, first + limit).map(({ event }) => event);
    const inFile = Math.min(session.flushedSeq, (tail[0]?.event.seq ?? Number.POSITIVE_INFINITY) - 1);
    if (afterSeq >= inFile || session.logBytes === undefined) return fromMemory;
    const wanted = Math.min(limit, inFile - afterSeq);
    const range = await this.#readFile(session, afterSeq, wanted);
    const events = range.events.filter(({ seq }) => seq <= inFile);
    if (range.isDamaged || this.#lacks(session.key, afterSeq, events, events.length < wanted ? inFile : 0)) {
      const mended = this.#mendForReader(session.key);
      if (mended !== undefined) return await this.read(mended, afterSeq, limit);
    }
    return [...events, ...fromMemory].slice(0, limit);
  }

  /** Reads a log as a whole, and mends it where it is damaged. */
  inspect(key: string): void {
    this.#mend(this.open(key), true);
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
      for (const folder of folders) await syncPath(folder);
    } catch (error) {
      for (const path of files) this.#unsyncedFiles.add(path);
      for (const folder of folders) this.#unsyncedFolders.add(folder);
      throw error;
    }
  }

  /**
   * Leaves what only told how things went on out of the turns of a log that ended before a moment. Resolves with the bytes that this
   * has freed: none where the log is in use.
   *
   * @throws {EngineError} `persistence` when another process may use the files; the system's own for a full disk
   */
  async thin(path: string, beforeMs: number): Promise<number> {
    const { size } = fs.statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
    const thinned = await writeThinned({ path, size, beforeMs });
    if (thinned === undefined) return 0;
    const { sessionKey, draft } = thinned;
    try {
      this.#options.boundary("thin:draft-written");
      this.#options.assertAlone();
      if (!this.#isAtRest(sessionKey, path, size)) return 0;
      this.#options.beforeThin();
      fs.renameSync(draft, path);
      const session = this.#table.find(sessionKey);
      if (session !== undefined) {
        if (session.logBytes !== undefined) session.logBytes = thinned.size;
        session.loggedIds = undefined;
        trim(session, 0);
      }
      this.#options.boundary("thin:replaced");
    } finally {
      fs.rmSync(draft, { force: true });
    }
    await syncPath(dirname(path));
    return size - thinned.size;
  }

  /** The log is this session's, all of it, and as long as it was. */
  #isAtRest(key: string, path: string, size: number): boolean {
    const session = this.#table.find(key);
    if (this.#options.pathOf(key) !== path || this.#table.tombstones.get(key)?.isGone === false) return false;
    if (session !== undefined && (pendingOf(session).length > 0 || (session.logBytes ?? size) !== size)) return false;
    return fs.statSync(path, { throwIfNoEntry: false })?.size === size;
  }

  /** Takes a deleted session's log off the disk, and what was kept of it when it was damaged. Its tombstone must be synced. */
  remove(key: string): void {
    const tombstone = this.#table.tombstones.get(key);
    this.#options.assertAlone();
    const path = this.#options.pathOf(key);
    fs.rmSync(path, { force: true });
    fs.rmSync(thinningPath(path), { force: true });
    for (const kept of damagedCopies(path)) fs.rmSync(kept, { force: true });
    if (tombstone !== undefined) tombstone.isGone = true;
  }

  #compare(session: Session): void {
    const tombstone = this.#table.tombstones.get(session.key);
    const path = this.#options.pathOf(session.key);
    const pending = pendingOf(session)[0]?.event.seq;
    let found: FoundEnd = { size: 0, goodEnd: 0, lastSeq: 0, lastTime: 0 };
    // What a deleted session left behind is removed with the next write; until then it counts for nothing.
    if (tombstone?.isGone !== false) found = findLogEnd(path, session.key, pending);
    const isTorn = found.goodEnd < found.size;
    let end: LogEnd = found;
    if (tombstone !== undefined && end.lastSeq <= tombstone.seq) {
      if (end.goodEnd > 0) tombstone.isGone = false;
      end = { goodEnd: 0, lastSeq: tombstone.seq, lastTime: tombstone.timestamp };
    }
    const events = pendingOf(session).map(({ event }) => event);
    const tail = isTorn ? readTornTail(path, found, events) : "foreign";
    if (tail !== "foreign") this.#cut(path, found, tail === "garbled");
    // Written by a process that was killed before it synced: the journal may let go of these events only after a sync.
    if (pending !== undefined && end.lastSeq >= pending) this.#markUnsynced(path);
    session.logBytes = end.goodEnd;
    session.flushedSeq = Math.max(end.lastSeq, (pending ?? 0) - 1);
    session.lastSeq = Math.max(session.lastSeq, end.lastSeq);
    session.lastTime = Math.max(session.lastTime, end.lastTime);
    trimToGap(session);
    this.#reportGaps(session, path);
    // Without events in the journal nothing but the document tells about an end that is gone.
    const knownEnd = pending === undefined ? this.#options.shownSeq(session.key) : pending - 1;
    const lacksSome = this.#lacks(session.key, end.lastSeq, [], knownEnd);
    if ((isTorn && tail === "foreign") || lacksSome) this.#mend(session, pending !== undefined);
  }

  /** Events that a repair of the journal could not read, and that the log does not have. */
  #reportGaps(session: Session, path: string): void {
    const events = pendingOf(session).map(({ event }) => event);
    const gaps = gapsIn(session.flushedSeq, events.map(placeOf), events.at(-1)?.seq ?? 0);
    const lost = outside(gaps, this.#options.knownLoss(session.key));
    if (lost.length > 0)
      this.#options.onDamage({ sessionKey: session.key, file: path, keptIn: undefined, lost, restored: 0 });
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

  /** Takes damaged bytes off the end of a log: the journal has all that was in them. */
  #cut(path: string, { size, goodEnd }: LogEnd & { readonly size: number }, isKept: boolean): void {
    this.#options.assertAlone();
    const keptIn = isKept ? setAside(path, "copy") : undefined;
    this.#options.log.warn("a session log ended in damaged bytes: cut", {
      file: path,
      bytes: size - goodEnd,
      ...(keptIn === undefined ? {} : { keptIn }),
    });
    fs.truncateSync(path, goodEnd);
  }

  /** True when events are missing after `afterSeq`, between these and up to `lastSeq`, and nobody knows about it. */
  #lacks(key: string, afterSeq: number, events: readonly StoredEvent[], lastSeq: number): boolean {
    const from = Math.max(afterSeq, this.#table.tombstones.get(key)?.seq ?? 0);
    const gaps = gapsIn(from, events.map(placeOf), Math.max(lastSeq, events.at(-1)?.seq ?? 0));
    return gaps.length > 0 && outside(gaps, this.#options.knownLoss(key)).length > 0;
  }

  /** The session after mending; undefined when there was nothing to mend, or the disk refuses. */
  #mendForReader(key: string): Session | undefined {
    try {
      const session = this.open(key);
      return this.#mend(session, true) ? session : undefined;
    } catch (error) {
      this.#options.log.error("a damaged session log could not be mended: what can be read of it is used", {
        session: key,
        error,
      });
      return undefined;
    }
  }

  /** `isEndKnown`: the session's numbers are known from elsewhere than the end of its log. */
  #mend(session: Session, isEndKnown: boolean): boolean {
    const { key } = session;
    const tombstone = this.#table.tombstones.get(key);
    if (tombstone?.isGone === false) return false;
    const synced = this.#options.syncedPosition();
    const inMemory = session.tail.filter(({ position }) => position <= synced).map(({ event }) => event);
    const log: LogToMend = {
      path: this.#options.pathOf(key),
      sessionKey: key,
      after: tombstone?.seq ?? 0,
      known: this.#options.knownLoss(key),
      others: [...inMemory, ...this.#options.inJournal(key)],
      lastSeq: isEndKnown ? session.flushedSeq : undefined,
      shownSeq: isEndKnown ? 0 : this.#options.shownSeq(key),
    };
    this.#options.assertAlone();
    const mended = mendLog(log);
    if (mended === undefined) return false;
    const { end, usedSeq, keptIn, lost, restored, isHarmless } = mended;
    session.logBytes = end.goodEnd;
    session.loggedIds = undefined;
    session.flushedSeq = Math.max(session.flushedSeq, end.lastSeq);
    session.lastSeq = Math.max(session.lastSeq, usedSeq);
    session.lastTime = Math.max(session.lastTime, end.lastTime);
    if (isHarmless) this.#options.log.warn("the lines of a session log were out of order", { file: log.path, keptIn });
    else this.#options.onDamage({ sessionKey: key, file: log.path, keptIn, lost, restored });
    return true;
  }

  #append(session: Session, bytes: Buffer): void {
    const path = this.#options.pathOf(session.key);
    if (this.#table.tombstones.get(session.key)?.isGone === false) this.remove(session.key);
    const fd = this.#openForAppend(path);
    try {
      const { size } = fs.fstatSync(fd);
      const expected = session.logBytes ?? 0;
      if (size !== expected)
        throw new Error(`it has ${size} bytes instead of ${expected}: something else has changed it`);
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
      return fs.openSync(path, appendOnly, 0o600);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      makeFolderSync(dirname(path));
      this.#unsyncedFolders.add(dirname(dirname(path)));
      return fs.openSync(path, appendOnly, 0o600);
    }
  }

  async #readFile({ key, logBytes = 0, flushedSeq }: Session, after: number, limit: number): Promise<LogRange> {
    const path = this.#options.pathOf(key);
    const file = await openIfThere(path).catch((error: unknown) => {
      throw this.#unusable(key, "read", error);
    });
    if (file === undefined) return { events: [], isDamaged: false };
    try {
      const range = await run(file, readRange({ size: logBytes, sessionKey: key }, after, limit, flushedSeq));
      return { ...range, events: range.events.map(deepFreeze) };
    } catch (error) {
      throw this.#unusable(key, "read", error);
    } finally {
      await file.close();
    }
  }

  #unusable(key: string, verb: "read" | "written", error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    const path = this.#options.pathOf(key);
    return new EngineError(`The session log ${path} could not be ${verb}: ${reasonOf(error)}`, {
      kind: verb === "read" ? "unreadable" : "persistence",
      cause: error,
    });
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await openIfThere(path).catch((cause: unknown) => {
    const text = `The session log ${path} could not be opened for syncing: ${reasonOf(cause)}`;
    throw new EngineError(text, { kind: "persistence", cause });
  });
  await file?.datasync().finally(() => file.close());
}
