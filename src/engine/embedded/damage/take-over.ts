import * as fs from "node:fs";
import type { Logger } from "../../../log.js";
import { makeFolderSync } from "../../../util/files/make-folder.js";
import { readPlain } from "../../../util/files/real-path.js";
import { syncPath } from "../../../util/files/sync-path.js";
import { applyLines, createSegment } from "../journal/load.js";
import { journalFolder, listSegments, parseSegment } from "../journal/segment.js";
import { LiveRecords } from "../state.js";
import { findLoss, messageText } from "./continuity.js";
import { canBeRestored, gatherEvidence, operationsFor } from "./evidence.js";
import { readMarks, resetMarks } from "./journal-mark.js";
import { setAside } from "./mend-log.js";

/** What happened to a journal that had lost its end. */
export interface TakenOver {
  /** One sentence. */
  readonly loss: string;
  /** Messages that wait for their answer again, each with its chat and its first words. */
  readonly restored: readonly string[];
  /** Messages that only a person can send again. */
  readonly lost: readonly string[];
  readonly notAnsweredTwice: number;
  readonly notSentTwice: number;
  /** Replies, by id and session, that may not have arrived. */
  readonly unsent: readonly { readonly id: string; readonly sessionKey: string }[];
  /** The old files under their new names. */
  readonly setAside: readonly string[];
}

export interface TakeOverOptions {
  readonly home: string;
  readonly logs: () => readonly string[];
  readonly logPathOf: (sessionKey: string) => string;
  /** The mark beside the session logs. */
  readonly logsMark?: string | undefined;
  readonly log: Logger;
  /** Unix ms. */
  readonly now: number;
  /** Only says what it would do. */
  readonly dryRun?: boolean;
}

/** Begins a new segment with what a journal holds that has lost its end, and with what the session logs prove beyond it. */
export async function takeOverFromLogs(options: TakeOverOptions): Promise<TakenOver | undefined> {
  const { home, logs, logPathOf, logsMark, log, now } = options;
  const folder = journalFolder(home);
  const segments = fs.existsSync(folder) ? listSegments(folder) : [];
  const found = newestWhole(segments.map(({ path }) => path));
  const marks = readMarks(home, logsMark, log);
  const loss = findLoss({ home, records: found?.records, tx: found?.tx ?? 0, marks, logs, logPathOf });
  if (loss === undefined) return undefined;
  const records = found?.records ?? new LiveRecords();
  const taken = await completeFromLogs(records, loss, { logs: logs(), now });
  if (options.dryRun === true) return taken;
  makeFolderSync(folder);
  const kept = segments.map(({ path }) => setAside(path));
  const tx = Math.max(marks.tx ?? 0, found?.tx ?? 0);
  await createSegment(folder, (segments.at(-1)?.number ?? 0) + 1, tx, records);
  for (const { path } of segments) fs.unlinkSync(path);
  await syncPath(folder);
  resetMarks(home, logsMark, tx);
  return { ...taken, setAside: kept };
}

/** Adds to what could be read of a journal that was damaged, or has lost its end, what the session logs prove beyond it. */
export async function completeFromLogs(
  records: LiveRecords,
  loss: string,
  {
    logs,
    now,
    ended,
  }: { readonly logs: readonly string[]; readonly now: number; readonly ended?: ReadonlySet<string> },
): Promise<TakenOver> {
  const evidence = await gatherEvidence(records, logs, now, ended);
  for (const operation of operationsFor(evidence)) records.apply(operation, { isDurable: true, bytes: 0, position: 0 });
  return {
    loss,
    restored: evidence.unanswered.filter(canBeRestored).map(messageText),
    lost: evidence.unanswered.filter((event) => !canBeRestored(event)).map(messageText),
    notAnsweredTwice: evidence.answered.length,
    notSentTwice: evidence.sent.length,
    unsent: evidence.unsent,
    setAside: [],
  };
}

function newestWhole(paths: readonly string[]): { readonly records: LiveRecords; readonly tx: number } | undefined {
  for (const path of [...paths].reverse()) {
    const content = parseSegment(path, readPlain(path));
    if (content.checkpointEnd === undefined) continue;
    const records = new LiveRecords();
    return { records, tx: applyLines(records, content, content.goodEnd) };
  }
  return undefined;
}
