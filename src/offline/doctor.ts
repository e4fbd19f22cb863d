import { existsSync } from "node:fs";
import { join } from "node:path";
import { findLoss } from "../engine/embedded/damage/continuity.js";
import { readMarks } from "../engine/embedded/damage/journal-mark.js";
import { readStoredJournal, type StoredJournal } from "../engine/embedded/inspect/stored-files.js";
import { damageKind, damageSentence, isStillTold, parseLogDamage } from "../engine/log-damage.js";
import { silentLog } from "../log.js";
import { logsMarkPath } from "../sessions/file-names.js";
import { type EventReport, type GatewayFiles, logPaths, storedFiles, verifyEvents } from "./events.js";
import { findMissing, type ShortLog, shortLogSentence } from "./sessions/short-logs.js";

export interface Examination {
  /** One sentence each, with what to do. */
  readonly problems: readonly string[];
  readonly events: EventReport;
  /** Of the journal, where it cannot be read to its end; among the events' problems too. */
  readonly journalProblem: string | undefined;
  /** Conversations of which something else shows more than their logs hold; among the problems too. */
  readonly short: readonly ShortLog[];
}

/** What the journal of a home says, and what is wrong with it. Changes nothing. */
export function examineJournal(files: GatewayFiles): StoredJournal & { readonly problems: readonly string[] } {
  const stored = storedFiles(files);
  const journal = readStoredJournal(stored);
  const { path, records, content, problem } = journal;
  const problems: string[] = [];
  // A damaged journal ends where it can be read: that is the damage, and not a second one.
  if (files.segment === undefined && problem === undefined) {
    const tx = (content?.lines ?? []).reduce((last, { line }) => ("tx" in line ? Math.max(last, line.tx) : last), 0);
    const loss = findLoss({
      home: files.home,
      records: path === undefined ? undefined : records,
      tx,
      marks: readMarks(files.home, logsMarkPath(join(files.workspace, ".sessions")), silentLog),
      logs: () => stored.logs.filter((log) => existsSync(log)),
      logPathOf: logPaths(files),
    });
    if (loss !== undefined) problems.push(`${loss} The gateway does not start. Run: maxclaw repair`);
  }
  return { ...journal, problems: [...problems, ...repaired(journal)] };
}

/** A sentence for each log that was repaired, until its owner has seen it. */
export function repairedBefore(files: GatewayFiles): readonly string[] {
  return repaired(readStoredJournal(storedFiles(files)));
}

function repaired({ records }: Pick<StoredJournal, "records">): readonly string[] {
  return [...(records.facts.get(damageKind) ?? [])].flatMap(([key, value]) => {
    const damage = parseLogDamage(value);
    return damage !== undefined && isStillTold(damage) ? [damageSentence(key, damage)] : [];
  });
}

/** Looks for damage in the files of a gateway. Changes nothing. */
export async function examineFiles(files: GatewayFiles, signal: AbortSignal): Promise<Examination> {
  const { problems, records, problem: journalProblem } = examineJournal(files);
  const missing = await findMissing(files, records);
  const events = await verifyEvents(files, undefined, { signal });
  // A log is named once: what is damaged in it says more than that it is short.
  const damaged = new Set(events.problems.map(({ sessionKey }) => sessionKey));
  const short = missing.filter(({ sessionKey }) => !damaged.has(sessionKey));
  return { problems: [...problems, ...short.map(shortLogSentence)], events, journalProblem, short };
}
