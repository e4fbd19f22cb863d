import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StoredEvent } from "../../../events/event.js";
import { codeOf, withPath } from "../../../util/error-code.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { readOnly } from "../../../util/files/real-path.js";
import { droppedBefore } from "../../left-out.js";
import { writeFully } from "../files.js";
import { encodeLine } from "../journal/line.js";
import { runBlocking } from "../logs/line-walk.js";
import { eachLogLine, type LogEnd } from "../logs/log-reading.js";
import { salvageEvents } from "./salvage.js";
import { gapsIn, outside, type SeqRange } from "./seq-range.js";

export interface LogToMend {
  readonly path: string;
  readonly sessionKey: string;
  /** Events up to here belong to an earlier life of the session. */
  readonly after: number;
  /** What is known to be lost. */
  readonly known: readonly SeqRange[];
  /** Events of the session that are safe elsewhere. */
  readonly others: readonly StoredEvent[];
  /** The last number that belongs into the log, where it is known for sure. */
  readonly lastSeq: number | undefined;
  /** The highest number that anybody is known to have seen. */
  readonly shownSeq: number;
}

/** A log was mended, or lacks events that nobody knew to be lost. */
export interface FoundDamage {
  readonly sessionKey: string;
  readonly file: string;
  /** The log as it was. */
  readonly keptIn: string | undefined;
  readonly lost: readonly SeqRange[];
  /** Events that were brought back. */
  readonly restored: number;
}

export interface MendedLog {
  /** The log as it was; undefined when nothing had to be written. */
  readonly keptIn: string | undefined;
  /** Numbers whose events are gone, and were not known to be. */
  readonly lost: readonly SeqRange[];
  /** Events that were brought back, out of damaged lines or from the journal. */
  readonly restored: number;
  /** All lines could be read: they were only out of order, or twice in it. */
  readonly isHarmless: boolean;
  readonly end: LogEnd;
  /** No new event may have a number up to here. */
  readonly usedSeq: number;
}

/** No event takes fewer bytes: how many may have been in bytes that tell nothing. */
const leastLine = 250;
const copyBytes = 1024 * 1024;
const longestRegion = 64 * 1024 * 1024;

type LineSource = { readonly start: number; readonly end: number } | { readonly event: StoredEvent };

interface Scan {
  readonly sources: ReadonlyMap<number, LineSource>;
  /** How many numbers before an event were left out on purpose. */
  readonly dropped: ReadonlyMap<number, number>;
  readonly lastTime: number;
  readonly salvaged: number;
  readonly highestSeq: number;
  /** All lines are good, and each number is above the one before. */
  readonly isSound: boolean;
  readonly hasDamagedLines: boolean;
  /** The highest number that may have been behind the last good line. */
  readonly guessedSeq: number;
}

/**
 * Writes a log again from everything in it that can be read, in the order of the numbers, together with what is safe
 * elsewhere. The log as it was is kept beside it. Does nothing to the file when there is nothing to mend; undefined when
 * nothing unknown is lost either.
 */
export function mendLog(log: LogToMend): MendedLog | undefined {
  const { path, others, after, known, shownSeq } = log;
  const scan = readScan(log);
  const sources = new Map(scan.sources);
  // What is newer comes into the log in its own time.
  const newest = Math.max(log.lastSeq ?? Number.POSITIVE_INFINITY, scan.highestSeq);
  for (const event of others)
    if (event.seq > after && event.seq <= newest && !sources.has(event.seq)) sources.set(event.seq, { event });
  const seqs = [...sources.keys()].sort((a, b) => a - b);
  const lastSeq = Math.max(after, seqs.at(-1) ?? 0);
  const usedSeq = Math.max(lastSeq, log.lastSeq ?? Math.max(scan.guessedSeq, shownSeq));
  const places = seqs.map((seq) => ({ seq, dropped: scan.dropped.get(seq) ?? 0 }));
  const lost = outside(gapsIn(after, places, usedSeq), known);
  const isChanged = !scan.isSound || sources.size > scan.sources.size;
  if (!isChanged && lost.length === 0) return undefined;
  const lastTime = others.reduce((latest, { timestamp }) => Math.max(latest, Date.parse(timestamp)), scan.lastTime);
  const restored = scan.salvaged + sources.size - scan.sources.size;
  const written = isChanged ? rewrite(path, seqs, sources) : { keptIn: undefined, size: sizeOf(path) };
  const isHarmless = lost.length === 0 && restored === 0 && !scan.hasDamagedLines;
  const end = { goodEnd: written.size, lastSeq, lastTime };
  return { keptIn: written.keptIn, lost, restored, isHarmless, usedSeq, end };
}

function readScan(log: LogToMend): Scan {
  let fd: number;
  try {
    fd = fs.openSync(log.path, readOnly);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return {
      sources: new Map(),
      dropped: new Map(),
      lastTime: 0,
      salvaged: 0,
      highestSeq: 0,
      isSound: true,
      hasDamagedLines: false,
      guessedSeq: 0,
    };
  }
  try {
    return withPath(log.path, () => scanLog(fd, log));
  } finally {
    fs.closeSync(fd);
  }
}

function scanLog(fd: number, { sessionKey, after }: LogToMend): Scan {
  const sources = new Map<number, LineSource>();
  const dropped = new Map<number, number>();
  let lastTime = 0;
  let last = 0;
  let salvaged = 0;
  let isSound = true;
  let hasDamagedLines = false;
  let damaged: Buffer[] = [];
  let damagedBytes = 0;
  const add = (event: StoredEvent, source: LineSource): void => {
    lastTime = Math.max(lastTime, Date.parse(event.timestamp));
    if (event.seq <= after || sources.has(event.seq)) return;
    sources.set(event.seq, source);
    const before = droppedBefore(event);
    if (before > 0) dropped.set(event.seq, before);
  };
  /** Returns the highest number that may have been in it. */
  const endRegion = (): number => {
    if (damaged.length === 0) return 0;
    const found = salvageEvents(damaged, sessionKey);
    for (const event of found) {
      if (event.seq > after && !sources.has(event.seq)) salvaged += 1;
      add(event, { event });
    }
    const highest = Math.max(last, ...found.map(({ seq }) => seq));
    const gone = found.length >= damaged.length ? 0 : Math.max(damaged.length, Math.ceil(damagedBytes / leastLine));
    const guess = Math.max(highest, gone === 0 ? 0 : last + gone, namedSeq(damaged, last + damagedBytes));
    damaged = [];
    damagedBytes = 0;
    return guess;
  };
  const reading = eachLogLine({ size: fs.fstatSync(fd).size, sessionKey }, ({ start, end, event }, bytes) => {
    if (event === undefined) {
      isSound = false;
      hasDamagedLines = true;
      if (damagedBytes > longestRegion) endRegion();
      damaged.push(Buffer.from(bytes));
      damagedBytes += bytes.length;
      return;
    }
    endRegion();
    if (event.seq <= last) isSound = false;
    last = Math.max(last, event.seq);
    add(event, { start, end });
  });
  runBlocking(fd, reading);
  const guessedSeq = endRegion();
  const highestSeq = [...sources.keys()].reduce((highest, seq) => Math.max(highest, seq), 0);
  return { sources, dropped, lastTime, salvaged, highestSeq, isSound, hasDamagedLines, guessedSeq };
}

/** The highest number that damaged lines name, if there is room for it. */
function namedSeq(damaged: readonly Buffer[], most: number): number {
  const named = damaged.flatMap((bytes) => [...bytes.toString("latin1").matchAll(/"seq":(\d{1,15})[,}]/g)]);
  return Math.max(0, ...named.map(([, digits]) => Number(digits)).filter((seq) => seq <= most));
}

function rewrite(
  path: string,
  seqs: readonly number[],
  sources: ReadonlyMap<number, LineSource>,
): { readonly keptIn: string | undefined; readonly size: number } {
  const draft = `${path}.mending`;
  makeFolderSync(dirname(path));
  const isThere = fs.existsSync(path);
  const from = isThere ? fs.openSync(path, readOnly) : undefined;
  const to = fs.openSync(draft, "w", 0o600);
  let size: number;
  try {
    size = writeLines(from, to, seqs, sources);
    fs.fdatasyncSync(to);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  } finally {
    fs.closeSync(to);
    if (from !== undefined) fs.closeSync(from);
  }
  const keptIn = isThere ? setAside(path) : undefined;
  fs.renameSync(draft, path);
  syncFolderNow(dirname(path));
  return { keptIn, size };
}

function writeLines(
  from: number | undefined,
  to: number,
  seqs: readonly number[],
  sources: ReadonlyMap<number, LineSource>,
): number {
  let size = 0;
  let run: { start: number; end: number } | undefined;
  const write = (bytes: Buffer): void => {
    writeFully(to, bytes);
    size += bytes.length;
  };
  const endRun = (): void => {
    if (run === undefined || from === undefined) return;
    for (let at = run.start; at < run.end; ) {
      const piece = Buffer.allocUnsafe(Math.min(copyBytes, run.end - at));
      const length = fs.readSync(from, piece, 0, piece.length, at);
      if (length === 0) throw new Error("the log became shorter while it was read");
      write(piece.subarray(0, length));
      at += length;
    }
    run = undefined;
  };
  for (const seq of seqs) {
    const source = sources.get(seq);
    if (source === undefined) continue;
    if ("event" in source) {
      endRun();
      write(encodeLine(JSON.stringify(source.event)));
    } else if (run?.end === source.start) run.end = source.end;
    else {
      endRun();
      run = { ...source };
    }
  }
  endRun();
  return size;
}

/** Keeps a file as it is under the name `<path>.damaged-<time>`: with one more name, or as a copy if it is to change. */
export function setAside(path: string, how: "link" | "copy" = "link"): string {
  const name = `${path}.damaged-${new Date().toISOString().replaceAll(":", "-")}`;
  for (let count = 1; ; count += 1) {
    const aside = count === 1 ? name : `${name}-${count}`;
    if (fs.existsSync(aside)) continue;
    try {
      if (how === "link") fs.linkSync(path, aside);
    } catch (error) {
      // Some file systems know no second names.
      if (codeOf(error) === "EEXIST") continue;
    }
    if (!fs.existsSync(aside)) fs.copyFileSync(path, aside, fs.constants.COPYFILE_EXCL);
    return aside;
  }
}

/** What was set aside of a log. */
export function damagedCopies(path: string): readonly string[] {
  const folder = dirname(path);
  if (!fs.existsSync(folder)) return [];
  const begin = `${basename(path)}.damaged-`;
  // Another session's name may begin so too.
  return fs
    .readdirSync(folder)
    .filter((name) => name.startsWith(begin) && /^[\dT-]+\.\d+Z(?:-\d+)?$/.test(name.slice(begin.length)))
    .map((name) => join(folder, name));
}

function sizeOf(path: string): number {
  return fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function syncFolderNow(path: string): void {
  const fd = fs.openSync(path, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
