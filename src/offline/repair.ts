import { existsSync } from "node:fs";
import { join } from "node:path";
import { type MendedHomeLog, mendLogs } from "../engine/embedded/damage/mend-home.js";
import { completeFromLogs, type TakenOver, takeOverFromLogs } from "../engine/embedded/damage/take-over.js";
import { type JournalRepair, type JournalRepairOptions, repairJournal } from "../engine/embedded/journal/repair.js";
import { systemKey } from "../events/session-key.js";
import { type Logger, silentLog } from "../log.js";
import { shownSequence } from "../sessions/document/document-file.js";
import { createSessionFiles, gatewayLogName, logsIn, logsMarkPath } from "../sessions/file-names.js";
import { repairedBefore } from "./doctor.js";
import { lockFiles } from "./files.js";
import { findShortLogs } from "./sessions/short-logs.js";

export type { MendedHomeLog } from "../engine/embedded/damage/mend-home.js";
export type { TakenOver } from "../engine/embedded/damage/take-over.js";
export type { JournalRepair } from "../engine/embedded/journal/repair.js";

export interface Repair {
  readonly journal: JournalRepair;
  /** Undefined when the journal was not damaged and has lost nothing. */
  readonly takenOver: TakenOver | undefined;
  /** The session logs that were damaged. */
  readonly logs: readonly MendedHomeLog[];
  /** What was repaired before, as long as `status` shows it, where nothing else was damaged. One sentence each. */
  readonly before: readonly string[];
}

/**
 * Mends the files of a home that no gateway holds: keeps every good transaction of a damaged journal, takes over what the
 * session logs prove beyond a journal that was damaged or has lost its end, and mends the logs themselves. What was damaged is kept.
 *
 * @throws {EngineError} `locked` when a gateway runs
 */
export async function repairFiles(
  { home, workspace }: { readonly home: string; readonly workspace: string },
  log: Logger = silentLog,
): Promise<Repair> {
  const locks = await lockFiles(home, workspace);
  try {
    const sessions = join(workspace, ".sessions");
    const files = createSessionFiles(sessions);
    const logsMark = logsMarkPath(sessions);
    const gatewayLog = join(home, gatewayLogName);
    const logPathOf = (key: string): string => (key === systemKey("local") ? gatewayLog : files.logPath(key));
    const logs = (): readonly string[] => [gatewayLog, ...(existsSync(sessions) ? logsIn(sessions) : [])];
    const shownSeq = (key: string): number => shownSequence(files.documentPath(key));
    const assertHeld = (): void => {
      for (const lock of locks) lock.assertHeld();
    };
    const now = Date.now();
    const completed: TakenOver[] = [];
    const complete: JournalRepairOptions["complete"] = async (records, loss, ended) => {
      completed.push(await completeFromLogs(records, loss, { logs: logs(), now, ended }));
    };
    const journal = await repairJournal(home, { log, assertHeld, logsMark, complete });
    const takenOver = completed[0] ?? (await takeOverFromLogs({ home, logs, logPathOf, logsMark, log, now }));
    const short = (await findShortLogs({ workspace })).map(({ sessionKey }) => sessionKey);
    const mended = await mendLogs({ home, logs, logPathOf, logsMark, shownSeq, short, log });
    const isWhole = journal.setAside.length === 0 && takenOver === undefined && mended.length === 0;
    return { journal, takenOver, logs: mended, before: isWhole ? repairedBefore({ home, workspace }) : [] };
  } finally {
    for (const lock of locks) lock.release();
  }
}
