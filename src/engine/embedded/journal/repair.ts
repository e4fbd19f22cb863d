import * as fs from "node:fs";
import { type Logger, silentLog } from "../../../log.js";
import { readPlain } from "../../../util/files/real-path.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { readMarks, resetMarks } from "../damage/journal-mark.js";
import { Overtaken } from "../damage/overtaken.js";
import { seenFolder } from "../seen/format.js";
import { findSealed } from "../seen/open-sealed.js";
import { LiveRecords } from "../state.js";
import { applyLines, createSegment } from "./load.js";
import { journalFolder, listSegments, parseSegment, type SegmentContent } from "./segment.js";

export interface JournalRepair {
  /** The damaged files under their new names; empty when nothing was damaged. */
  readonly setAside: readonly string[];
  /** Bytes in lines that could not be read. */
  readonly lostBytes: number;
  readonly keptTransactions: number;
}

export interface JournalRepairOptions {
  readonly log?: Logger;
  readonly assertHeld?: () => void;
  /** The mark beside the session logs. */
  readonly logsMark?: string | undefined;
  /**
   * Adds to the records what others know beyond them, before they are written. `loss`: one sentence. `ended`: messages in the records
   * that were over, as others of their chats show.
   */
  readonly complete?: (records: LiveRecords, loss: string, ended: ReadonlySet<string>) => Promise<void>;
}

/**
 * Writes a new segment from every undamaged transaction of the journal, then sets the old files aside as
 * `<name>.damaged-<time>`. Changes nothing when nothing is damaged. No gateway may run on this home meanwhile:
 * `assertHeld` throws should one be able to.
 *
 * @throws {EngineError} `corrupt` when a file was written by a newer version
 */
export async function repairJournal(
  home: string,
  { log = silentLog, assertHeld = () => {}, logsMark, complete = async () => {} }: JournalRepairOptions = {},
): Promise<JournalRepair> {
  const folder = journalFolder(home);
  const all = (fs.existsSync(folder) ? listSegments(folder) : []).map((segment) => ({
    ...segment,
    content: parseSegment(segment.path, readPlain(segment.path)),
  }));
  // What is before the newest complete checkpoint is history.
  const start = Math.max(
    0,
    all.findLastIndex(({ content }) => content.checkpointEnd !== undefined),
  );
  const segments = all.slice(start);
  const mark = readMarks(home, logsMark, log).tx ?? 0;
  const isDamaged = segments.some(
    ({ content }, index) =>
      content.goodEnd < Math.min(content.size, content.synced) ||
      (content.goodEnd < content.size && lastTransaction(content) < mark) ||
      (index === 0 && content.checkpointEnd === undefined),
  );
  if (!isDamaged) return { setAside: [], lostBytes: 0, keptTransactions: 0 };

  const records = new LiveRecords();
  const overtaken = new Overtaken(records);
  let tx = 0;
  let lostBytes = 0;
  let keptTransactions = 0;
  // An unfinished segment repeats part of the one before it; applying both in order keeps what either one lost.
  for (const { content } of segments) {
    const lines = inOrder(content.lines);
    tx = Math.max(
      tx,
      applyLines(records, { ...content, lines }, content.size, (operation) => overtaken.note(operation)),
    );
    lostBytes += content.size - content.lines.reduce((sum, line) => sum + line.bytes, 0);
    keptTransactions += lines.filter(({ line }) => line.kind === "transaction").length;
  }
  // Which files of ids count may have been in what is damaged; one too many does no harm.
  records.seen.replaceFiles(findSealed(seenFolder(folder)));
  await complete(records, lossOf(folder, tx, mark), overtaken.ids);
  const time = new Date().toISOString().replaceAll(":", "-");
  const setAside = segments.map(({ path }) => `${path}.damaged-${time}`);
  assertHeld();
  // Linked first and unlinked last: at no moment is the journal without its files.
  for (const [index, { path }] of segments.entries()) fs.linkSync(path, setAside[index] ?? `${path}.damaged`);
  // Never below the marks: what the damage has taken was there, and no later transaction may have its number.
  const lastTx = Math.max(tx, mark);
  await createSegment(folder, (all.at(-1)?.number ?? 0) + 1, lastTx, records);
  assertHeld();
  for (const { path } of all) fs.unlinkSync(path);
  await syncPath(folder);
  resetMarks(home, logsMark, lastTx);
  return { setAside, lostBytes, keptTransactions };
}

function lossOf(folder: string, tx: number, mark: number): string {
  if (tx >= mark) return `The journal in ${folder} was damaged.`;
  return `The journal in ${folder} was damaged: what can be read ends with transaction ${tx}, and ${mark} were safe on the disk.`;
}

/** The number of the last one before the first damage. */
function lastTransaction({ lines, goodEnd }: SegmentContent): number {
  const before = lines.filter(({ offset }) => offset < goodEnd);
  return before.reduce((last, { line }) => ("tx" in line ? Math.max(last, line.tx) : last), 0);
}

/** The head as it is, then each transaction once, in the order of their numbers, wherever its line has got to. */
function inOrder(lines: SegmentContent["lines"]): SegmentContent["lines"] {
  const transactions = new Map<number, SegmentContent["lines"][number]>();
  for (const line of lines) {
    if (line.line.kind === "transaction" && line.line.ops.length > 0) transactions.set(line.line.tx, line);
  }
  return [
    ...lines.filter(({ line }) => line.kind !== "transaction"),
    ...[...transactions].sort(([one], [other]) => one - other).map(([, line]) => line),
  ];
}
