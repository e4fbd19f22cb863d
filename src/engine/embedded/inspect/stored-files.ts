import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { EngineError } from "../../../errors.js";
import { codeOf } from "../files.js";
import { applyLines } from "../journal/load.js";
import { journalFolder, listSegments, parseSegment, readIfThere, type SegmentContent } from "../journal/segment.js";
import { LiveRecords } from "../state.js";

/** The files of an engine that does not run, or that holds them still. */
export interface StoredFiles {
  readonly home: string;
  /** All session logs, the gateway's own included. */
  readonly logs: readonly string[];
  /** What of the journal counts, while an engine holds its files; else all of it. */
  readonly segment?: { readonly path: string; readonly bytes: number } | undefined;
}

export interface StoredJournal {
  /** Undefined when there is no journal. */
  readonly path: string | undefined;
  readonly content: SegmentContent | undefined;
  readonly records: LiveRecords;
  /** What keeps it from being read as a whole. */
  readonly problem: string | undefined;
}

/** What the journal says, up to the first damage in it. Changes nothing. @throws {EngineError} `corrupt` for a newer format */
export function readStoredJournal({ home, segment }: StoredFiles): StoredJournal {
  const records = new LiveRecords();
  const folder = segment === undefined ? journalFolder(home) : dirname(segment.path);
  const files = fs.existsSync(folder) ? listSegments(folder).reverse() : [];
  let problem: string | undefined;
  for (const { path } of files) {
    if (segment !== undefined && basename(path) !== basename(segment.path)) continue;
    const bytes = readIfThere(path)?.subarray(0, segment?.bytes);
    if (bytes === undefined) throw new EngineError(`${path} is gone: a gateway has replaced it`, { kind: "closed" });
    const content = parseSegment(path, bytes);
    const isDamaged = content.goodEnd < Math.min(content.size, content.synced);
    if (isDamaged || (content.checkpointEnd === undefined && path === files.at(-1)?.path))
      problem ??= `${path} is damaged at byte ${content.goodEnd}. Run "maxclaw repair".`;
    if (content.checkpointEnd === undefined) continue;
    applyLines(records, content, content.goodEnd);
    return { path, content, records, problem };
  }
  return { path: undefined, content: undefined, records, problem };
}

const pieceBytes = 1024 * 1024;

/**
 * Calls back with each line of a file, its LF included where it has one, reading a piece at a time; the bytes are the
 * caller's during the call only. Does nothing when there is no such file. Reads without the detour of a stream, which
 * for a hundred thousand small files takes most of the time, and lets others go on after each piece.
 */
export async function eachLine(
  path: string,
  onLine: (bytes: Buffer, position: { readonly line: number; readonly byte: number }) => void,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  let fd: number;
  try {
    fd = fs.openSync(path, "r");
  } catch (error) {
    // Its session was deleted meanwhile.
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    await readLines(fd, onLine, signal);
  } finally {
    fs.closeSync(fd);
  }
}

async function readLines(
  fd: number,
  onLine: (bytes: Buffer, position: { readonly line: number; readonly byte: number }) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  // One more than there is, so that a short file ends with its first read.
  let buffer = Buffer.allocUnsafe(Math.min(fs.fstatSync(fd).size + 1, pieceBytes));
  let filled = 0;
  let line = 1;
  let byte = 0;
  for (let isOver = false; !isOver; ) {
    const length = fs.readSync(fd, buffer, filled, buffer.length - filled, null);
    isOver = length < buffer.length - filled && fs.fstatSync(fd).size <= byte + filled + length;
    const end = filled + length;
    let start = 0;
    for (let lf = buffer.indexOf(0x0a, filled); lf !== -1 && lf < end; lf = buffer.indexOf(0x0a, start)) {
      onLine(buffer.subarray(start, lf + 1), { line, byte });
      line += 1;
      byte += lf + 1 - start;
      start = lf + 1;
    }
    filled = end - start;
    if (isOver && filled > 0) onLine(buffer.subarray(start, end), { line, byte });
    // A line that is longer than a piece.
    if (start === 0 && filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
    else if (start > 0) buffer.copyWithin(0, start, end);
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  }
}
