import * as fs from "node:fs";
import { basename } from "node:path";
import { EngineError } from "../../../errors.js";
import { textOf } from "../../../events/content.js";
import { journalFolder } from "../journal/segment.js";
import type { LiveRecords } from "../state.js";
import { type Evidence, gatherEvidence } from "./evidence.js";
import type { Marks } from "./journal-mark.js";
import { findLogEnd } from "./log-end.js";

export interface JournalToCheck {
  readonly home: string;
  /** Undefined when there is no journal. */
  readonly records: LiveRecords | undefined;
  /** The last transaction. */
  readonly tx: number;
  readonly marks: Marks;
  readonly logs: () => readonly string[];
  readonly logPathOf: (sessionKey: string) => string;
}

/**
 * One sentence for a journal that has lost what was safe on the disk: it is gone, cut, or an older copy. The marks tell, in the
 * home and beside the session logs; where one does not, the logs do, as no event is in them that was not in the journal before.
 */
export function findLoss(journal: JournalToCheck): string | undefined {
  const { home, records, tx, marks } = journal;
  const folder = journalFolder(home);
  const mark = marks.tx ?? 0;
  const name = marks.isOfHome ? basename(marks.path) : marks.path;
  if (records === undefined) {
    if (mark > 0)
      return `The journal in ${folder} is gone: ${name} says that ${mark} transactions were safe on the disk.`;
    const log = journal.logs().find((path) => findLogEnd(path, undefined, undefined).lastSeq > 0);
    return log === undefined
      ? undefined
      : `The journal in ${folder} is gone, and there are conversations, as in ${log}.`;
  }
  if (tx < mark) {
    const loss = `The journal in ${folder} is older than it was: it ends with transaction ${tx}, and ${mark} were safe on the disk (${name}).`;
    return marks.isOfHome || !marks.isComplete ? loss : `${loss} ${olderHome}`;
  }
  if (marks.isComplete) return undefined;
  for (const { key, lastSeq, tail } of records.sessions.all()) {
    const inLog = tail.length === 0 ? 0 : findLogEnd(journal.logPathOf(key), key, undefined).lastSeq;
    if (inLog > lastSeq)
      return `The journal in ${folder} is older than the conversations: the log of ${key} goes up to event ${inLog}, the journal to ${lastSeq}.`;
  }
  return undefined;
}

const olderHome =
  "Either the home was restored from an older copy, or the workspace was used with another home in between.";

/** @throws {EngineError} `corrupt`, with what may be lost and what would be repeated */
export async function assertWhole(journal: JournalToCheck, now: number): Promise<void> {
  const loss = findLoss(journal);
  if (loss === undefined) return;
  const { records } = journal;
  const logs = journal.logs().filter((path) => fs.existsSync(path));
  const evidence = records === undefined ? undefined : await gatherEvidence(records, logs, now);
  const details = evidence === undefined ? goneDetails : detailsOf(evidence);
  throw new EngineError(
    `${loss} ${details} Nothing was changed. Put the newest copy of the folder back if you have one. Else run "maxclaw repair": it recovers what the conversations prove, and says what is lost.`,
    { kind: "corrupt" },
  );
}

const goneDetails =
  'Accepted messages that had no answer yet may be lost, and so are pairings, approvals ("always" too), scheduled jobs and replies that were waiting to be sent.';

/** What a start would do wrong. */
function detailsOf(evidence: Evidence): string {
  const { unanswered, answered, sent, unsent } = evidence;
  const lines = [
    countOf(unanswered.length, "accepted message is not in it", "accepted messages are not in it") +
      (unanswered.length === 0 ? "" : ` (${unanswered.slice(0, 3).map(messageText).join("; ")})`),
    countOf(answered.length, "message would be answered a second time", "messages would be answered a second time"),
    countOf(sent.length, "reply would be sent a second time", "replies would be sent a second time"),
    countOf(unsent.length, "reply may not have been sent", "replies may not have been sent"),
  ].filter((line) => line !== "");
  const known = lines.length === 0 ? "" : `What the conversations show: ${lines.join(", ")}. `;
  return `${known}Messages that were accepted last may be lost without a trace, and so may pairings, approvals ("always" too) and scheduled jobs.`;
}

function countOf(count: number, one: string, many: string): string {
  return count === 0 ? "" : `${count} ${count === 1 ? one : many}`;
}

export function messageText({ payload, session_key: key }: Evidence["unanswered"][number]): string {
  const text = textOf(payload.content).replaceAll(/\s+/g, " ");
  return `${key}: “${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
}
