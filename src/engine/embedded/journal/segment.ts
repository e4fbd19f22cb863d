import * as fs from "node:fs";
import { join } from "node:path";
import { EngineError } from "../../../errors.js";
import { isMissing } from "../../../util/error-code.js";
import { readPlain } from "../../../util/files/real-path.js";
import { decodeLine, encodeLine } from "./line.js";
import {
  encodeCheckpoint,
  encodeCheckpointEnd,
  encodeHeader,
  formatVersion,
  type JournalLine,
  type Operation,
  parseJournalLine,
} from "./operations.js";

export interface SegmentFile {
  readonly number: number;
  readonly path: string;
}

/** What is in a segment file. */
export interface SegmentContent {
  /** All good lines in file order, those behind a damaged one included. */
  readonly lines: readonly { readonly offset: number; readonly bytes: number; readonly line: JournalLine }[];
  /** Where the first line starts that is damaged, incomplete or out of its place; the file's length when there is none. */
  readonly goodEnd: number;
  readonly size: number;
  /** The highest offset that any good line names as synced. */
  readonly synced: number;
  /** End of the checkpoint at the head; undefined when it is not complete. */
  readonly checkpointEnd: number | undefined;
}

export function journalFolder(home: string): string {
  return join(home, "journal");
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(8, "0")}.log`);
}

/** The segments in a journal folder, oldest first. */
export function listSegments(folder: string): SegmentFile[] {
  const found: SegmentFile[] = [];
  for (const name of fs.readdirSync(folder)) {
    const number = /^(\d{8})\.log$/.exec(name)?.[1];
    if (number !== undefined) found.push({ number: Number(number), path: join(folder, name) });
  }
  return found.sort((a, b) => a.number - b.number);
}

/** @throws {EngineError} `corrupt` when the file was written by a newer version */
export function parseSegment(path: string, content: Buffer): SegmentContent {
  const lines: SegmentContent["lines"][number][] = [];
  let goodEnd: number | undefined;
  let synced = 0;
  let checkpointEnd: number | undefined;
  let tx: number | undefined;
  for (let offset = 0; offset < content.length; ) {
    const lf = content.indexOf(0x0a, offset);
    const value = lf === -1 ? undefined : decodeLine(content.subarray(offset, lf + 1));
    if (lf === -1 || value === undefined) {
      goodEnd ??= offset;
      if (lf === -1) break;
      offset = lf + 1;
      continue;
    }
    const line = parseJournalLine(value);
    if (line === undefined) throw newerFormat(path, offset);
    if (line.kind === "header" && line.v > formatVersion) throw newerFormat(path, offset, line.v);
    if (!follows(line, tx)) goodEnd ??= offset;
    if (line.kind === "header" || line.kind === "transaction") tx = line.tx;
    lines.push({ offset, bytes: lf + 1 - offset, line });
    if (line.kind === "transaction") synced = Math.max(synced, line.synced);
    const isWhole = goodEnd === undefined && lines[0]?.line.kind === "header" && lines.length === 2 + lineCount(line);
    if (line.kind === "checkpointEnd" && isWhole) checkpointEnd = lf + 1;
    offset = lf + 1;
  }
  return { lines, goodEnd: goodEnd ?? content.length, size: content.length, synced, checkpointEnd };
}

/** Transactions are numbered without gaps; a line that only names the synced offset has the number of the last one. */
function follows(line: JournalLine, tx: number | undefined): boolean {
  if (line.kind !== "transaction" || tx === undefined) return true;
  return line.tx === (line.ops.length === 0 ? tx : tx + 1);
}

function lineCount(line: JournalLine): number {
  return line.kind === "checkpointEnd" ? line.lines : Number.NaN;
}

function newerFormat(path: string, offset: number, version?: number): EngineError {
  const what =
    version === undefined ? `an entry at byte ${offset} that this maxclaw does not know` : `format ${version}`;
  return new EngineError(
    `${path} has ${what}; this maxclaw reads formats up to ${formatVersion}. It was written by a newer version: update maxclaw, or restore the home from before the update.`,
    { kind: "corrupt" },
  );
}

/** The head of a segment: header, the live records in pieces, end mark. */
export function encodeHead(number: number, tx: number, operations: Iterable<Operation>): Buffer {
  const lines = [encodeLine(encodeHeader(number, tx))];
  let piece: Operation[] = [];
  for (const operation of operations) {
    piece.push(operation);
    if (piece.length < 200) continue;
    lines.push(encodeLine(encodeCheckpoint(piece)));
    piece = [];
  }
  if (piece.length > 0) lines.push(encodeLine(encodeCheckpoint(piece)));
  lines.push(encodeLine(encodeCheckpointEnd(lines.length - 1)));
  return Buffer.concat(lines);
}

/** Reads a file that a running gateway may drop at any moment; undefined when it is gone. */
export function readIfThere(path: string): Buffer | undefined {
  try {
    return readPlain(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
