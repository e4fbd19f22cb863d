import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { findLoss } from "../engine/embedded/damage/continuity.js";
import { readMarks } from "../engine/embedded/damage/journal-mark.js";
import { readStoredJournal, type StoredJournal } from "../engine/embedded/inspect/stored-files.js";
import { journalFolder, listSegments } from "../engine/embedded/journal/segment.js";
import { damageKind, damageSentence, isStillTold, parseLogDamage } from "../engine/log-damage.js";
import { silentLog } from "../log.js";
import { logsMarkPath } from "../sessions/file-names.js";
import { codeOf } from "../util/error-code.js";
import { findingSentence } from "../util/words/finding-sentences.js";
import {
  type EventReport,
  type GatewayFiles,
  logPaths,
  storedFiles,
  type VerifyOptions,
  verifyEvents,
} from "./events.js";
import { findMissing, type ShortLog, shortLogSentence } from "./sessions/short-logs.js";

export interface Examination {
  /** One sentence each, with what to do. */
  readonly problems: readonly string[];
  readonly events: EventReport;
  /** Of the journal, where it cannot be read to its end, which is among the events' problems too, or has lost its end. */
  readonly journalProblem: string | undefined;
  /** Conversations of which something else shows more than their logs hold; among the problems too. */
  readonly short: readonly ShortLog[];
}

interface ExaminedJournal extends StoredJournal {
  readonly problems: readonly string[];
  /** What shows that it has lost what was safe on the disk; among the problems too. */
  readonly loss: string | undefined;
}

/** What the journal of a home says, and what is wrong with it. Changes nothing. */
export function examineJournal(files: GatewayFiles): ExaminedJournal {
  const stored = storedFiles(files);
  const journal = readStoredJournal(stored);
  const { path, records, content, problem } = journal;
  let loss: string | undefined;
  // A damaged journal ends where it can be read: that is the damage, and not a second one.
  if (files.segment === undefined && problem === undefined) {
    const tx = (content?.lines ?? []).reduce((last, { line }) => ("tx" in line ? Math.max(last, line.tx) : last), 0);
    const found = findLoss({
      home: files.home,
      records: path === undefined ? undefined : records,
      tx,
      marks: readMarks(files.home, logsMarkPath(join(files.workspace, ".sessions")), silentLog),
      logs: () => stored.logs.filter((log) => existsSync(log)),
      logPathOf: logPaths(files),
    });
    loss = found && `${found} The gateway does not start. Run: maxclaw repair`;
  }
  return { ...journal, loss, problems: [...(loss === undefined ? [] : [loss]), ...repaired(journal)] };
}

/**
 * One sentence for a workspace that is not there, though the journal or its mark shows that the home has been in use: each start makes
 * `.sessions` in it. Undefined for any other.
 */
export function findGoneWorkspace({ home, workspace }: GatewayFiles): string | undefined {
  if (!isAbsent(join(workspace, ".sessions"))) return undefined;
  const journal = journalFolder(home);
  const hasJournal = existsSync(journal) && listSegments(journal).length > 0;
  if (!hasJournal && (readMarks(home, undefined, silentLog).tx ?? 0) === 0) return undefined;
  return findingSentence(isAbsent(workspace) ? "workspace_gone" : "workspace_emptied", { folder: workspace });
}

/** False for what this account may not look at, and below a file. */
function isAbsent(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
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
  const journal = examineJournal(files);
  const missing = await findMissing(files, journal.records);
  const events = await verifyEvents(files, undefined, { signal });
  const short = notNamed(missing, events);
  const problems = [...journal.problems, ...short.map(shortLogSentence)];
  return { problems, events, journalProblem: journal.problem ?? (journal.loss && `${journal.loss}.`), short };
}

/** Checks the events of all sessions, or of one, and what is no longer there to be checked. Changes nothing. */
export async function verifyWhole(
  files: GatewayFiles,
  sessionKey: string | undefined,
  options: VerifyOptions,
): Promise<EventReport> {
  const { records, loss } = examineJournal(files);
  const missing = await findMissing(files, records);
  const events = await verifyEvents(files, sessionKey, options);
  const short = notNamed(missing, events).filter((log) => sessionKey === undefined || log.sessionKey === sessionKey);
  const gone = findGoneWorkspace(files);
  const goneTodo = findingSentence("workspace_gone_todo", { folder: files.workspace });
  const problems: EventReport["problems"] = [
    ...(gone === undefined ? [] : [{ kind: "gap" as const, message: `${gone}. ${goneTodo}` }]),
    ...(loss === undefined ? [] : [{ kind: "journal" as const, message: loss }]),
    ...short.map((log) => ({ kind: "gap" as const, message: shortLogSentence(log) })),
    ...events.problems,
  ];
  const problemCount = problems.length - events.problems.length + events.problemCount;
  return { ...events, problems, problemCount };
}

/** A log is named once: what is damaged in it says more than that it is short. */
function notNamed(missing: readonly ShortLog[], { problems }: EventReport): readonly ShortLog[] {
  const damaged = new Set(problems.map(({ sessionKey }) => sessionKey));
  return missing.filter(({ sessionKey }) => !damaged.has(sessionKey));
}
