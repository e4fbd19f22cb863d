import * as fs from "node:fs";
import { join } from "node:path";
import { EngineError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { readPlain } from "../../../util/files/real-path.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { assertWhole } from "../damage/continuity.js";
import { readMarks } from "../damage/journal-mark.js";
import { writeFully } from "../files.js";
import { seenFolder } from "../seen/format.js";
import { openAll } from "../seen/open-sealed.js";
import { removeUnnamed } from "../seen/seen-keeper.js";
import { LiveRecords } from "../state.js";
import type { Operation } from "./operations.js";
import {
  encodeHead,
  journalFolder,
  listSegments,
  parseSegment,
  type SegmentContent,
  type SegmentFile,
  segmentPath,
} from "./segment.js";

export interface LoadedJournal {
  readonly records: LiveRecords;
  readonly segment: SegmentFile;
  /** Length of the segment. All of it is on the disk. */
  readonly size: number;
  readonly checkpointEnd: number;
  /** Number of the last transaction. */
  readonly tx: number;
}

export interface LoadOptions {
  /** Where the session logs are, which tell more when the journal is not whole. */
  readonly logs?: () => readonly string[];
  readonly logPathOf?: (sessionKey: string) => string;
  /** The mark beside the session logs. */
  readonly logsMark?: string | undefined;
  /** Begins a new segment, so that what a process that has lost the lock still had under way goes nowhere. */
  readonly isTakenOver?: boolean | undefined;
}

/**
 * Reads the journal of a home, and nothing else where its marks say that it is whole. Cuts a torn tail, drops a segment
 * whose checkpoint was never finished, creates the folder and the first segment when there is none.
 *
 * @throws {EngineError} `corrupt` when bytes are damaged or gone that were known to be safe on disk
 */
export async function loadJournal(home: string, log: Logger, options: LoadOptions = {}): Promise<LoadedJournal> {
  const folder = journalFolder(home);
  const segments = fs.existsSync(folder) ? listSegments(folder) : [];
  const marks = readMarks(home, options.logsMark, log);
  const { logs = () => [], logPathOf = () => "", isTakenOver = false } = options;
  const whole = (records: LiveRecords | undefined, tx: number): Promise<void> =>
    assertWhole({ home, records, tx, marks, logs, logPathOf }, Date.now());
  if (segments.length === 0) await whole(undefined, 0);
  makeFolderSync(folder);
  if (segments.length === 0) segments.push(await createSegment(folder, 1, 0, new LiveRecords()));
  const { segment, content, checkpointEnd } = chooseSegment(segments, log);
  checkTail(segment.path, content);
  const records = new LiveRecords();
  const tx = applyLines(records, content, content.goodEnd);
  await whole(records, tx);
  if (content.goodEnd < content.size) {
    log.warn("the journal ends in an unfinished write that nobody relied on: cut", {
      file: segment.path,
      bytes: content.size - content.goodEnd,
    });
    fs.truncateSync(segment.path, content.goodEnd);
  }
  // A process that was killed may not have come to this, and without it a power cut could take the segment away.
  syncNow(segment.path);
  await syncEntries(folder);
  openAll(seenFolder(folder), records.seen, log);
  const fresh = isTakenOver ? await createSegment(folder, segment.number + 1, tx, records) : undefined;
  const current = fresh ?? segment;
  for (const other of segments) if (other.number !== current.number) fs.rmSync(other.path, { force: true });
  removeUnnamed(seenFolder(folder), records.seen, log);
  if (fresh === undefined) return { records, segment, size: content.goodEnd, checkpointEnd, tx };
  const { size } = fs.statSync(fresh.path);
  return { records, segment: fresh, size, checkpointEnd: size, tx };
}

/** Writes a segment that holds just a checkpoint, so that it is there as a whole or not at all. */
export async function createSegment(
  folder: string,
  number: number,
  tx: number,
  records: LiveRecords,
): Promise<SegmentFile> {
  const path = segmentPath(folder, number);
  const unfinished = join(folder, `${number}.tmp`);
  const fd = fs.openSync(unfinished, "w", 0o600);
  try {
    writeFully(fd, encodeHead(number, tx, records.checkpoint()));
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  fs.renameSync(unfinished, path);
  await syncEntries(folder);
  return { number, path };
}

function syncNow(path: string): void {
  const fd = fs.openSync(path, "r+");
  try {
    fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

async function syncEntries(folder: string): Promise<void> {
  await syncPath(folder);
  await syncPath(join(folder, ".."));
}

/** Applies the good lines before `end` in order; returns the number of the last transaction. */
export function applyLines(
  records: LiveRecords,
  content: SegmentContent,
  end: number,
  before: (operation: Operation) => void = () => {},
): number {
  let tx = 0;
  for (const { offset, bytes, line } of content.lines) {
    if (offset >= end) break;
    if (line.kind === "header" || line.kind === "transaction") tx = Math.max(tx, line.tx);
    if (line.kind !== "transaction" && line.kind !== "checkpoint") continue;
    const share = Math.ceil(bytes / Math.max(1, line.ops.length));
    for (const operation of line.ops) {
      before(operation);
      records.apply(operation, { isDurable: true, bytes: share, position: 0 });
    }
  }
  return tx;
}

/** The newest segment counts if its checkpoint is complete; else the one before is still the truth. */
function chooseSegment(
  segments: readonly SegmentFile[],
  log: Logger,
): { readonly segment: SegmentFile; readonly content: SegmentContent; readonly checkpointEnd: number } {
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const segment = segments[index];
    if (segment === undefined) break;
    const content = parseSegment(segment.path, readPlain(segment.path));
    if (content.checkpointEnd !== undefined) return { segment, content, checkpointEnd: content.checkpointEnd };
    checkTail(segment.path, content);
    if (index === 0) throw damaged(segment.path, content.goodEnd, "in the checkpoint at its head");
    log.warn("a journal segment was not finished when the process ended: dropped, the one before it counts", {
      file: segment.path,
    });
  }
  throw new EngineError("the journal folder holds no segment", { kind: "corrupt" });
}

function checkTail(path: string, content: SegmentContent): void {
  if (content.goodEnd >= content.size || content.goodEnd >= content.synced) return;
  throw damaged(path, content.goodEnd, `before byte ${content.synced}, up to which it was safe on disk`);
}

function damaged(path: string, offset: number, where: string): EngineError {
  return new EngineError(
    `${path} is damaged at byte ${offset}, ${where}. Nothing was changed. Check the disk, then run "maxclaw repair": it sets this file aside, keeps every undamaged transaction, and recovers what the conversations prove. Messages that are in no conversation, pairings, approvals ("always" too) and scheduled jobs may be gone.`,
    { kind: "corrupt" },
  );
}
