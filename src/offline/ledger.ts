import { join } from "node:path";
import { noteSettled } from "../engine/embedded/damage/settle.js";
import type { EventProblem } from "../engine/embedded/inspect/check-session.js";
import { readLedger } from "../engine/embedded/inspect/ledger.js";
import type { LedgerEntry } from "../engine/engine.js";
import { EngineError } from "../errors.js";
import { silentLog } from "../log.js";
import { logsMarkPath } from "../sessions/file-names.js";
import { examineFiles } from "./doctor.js";
import { type GatewayFiles, logPaths, storedFiles } from "./events.js";
import { lockFiles } from "./files.js";
import { shortLogSentence } from "./sessions/short-logs.js";

/** How each accepted message ended, read from the files of a home that no gateway holds. Changes nothing. */
export function readOfflineLedger(home: string, workspace: string): Promise<readonly LedgerEntry[]> {
  return readLedger(home, join(workspace, ".sessions"));
}

/** A conversation whose messages are not all in the ledger, because its log is damaged, cannot be read, or is gone. */
export interface Uncounted {
  /** Undefined where nobody can tell whose log it is. */
  readonly sessionKey?: string | undefined;
  readonly file?: string | undefined;
  /** What was found first. */
  readonly reason: string;
}

export interface CheckedLedger {
  readonly entries: readonly LedgerEntry[];
  readonly uncounted: readonly Uncounted[];
  /** Damage of the journal: messages that wait may look lost. */
  readonly problem: string | undefined;
}

/** What keeps messages out of the ledger. The others are wrong orders and causes. */
const hiding: ReadonlySet<EventProblem["kind"]> = new Set(["damaged", "unreadable", "gap", "foreign", "version"]);

/** The ledger, and what is missing in it. A gateway that is at work keeps its files still meanwhile. Changes nothing. */
export async function checkLedger(files: GatewayFiles, signal: AbortSignal): Promise<CheckedLedger> {
  const entries = await readOfflineLedger(files.home, files.workspace);
  return { entries, ...(await findUncounted(files, signal)) };
}

/** What is missing in a ledger of these files. */
export async function findUncounted(files: GatewayFiles, signal: AbortSignal): Promise<Omit<CheckedLedger, "entries">> {
  const { journalProblem: problem, short, events } = await examineFiles(files, signal);
  const found = [
    ...events.problems.flatMap(({ kind, sessionKey, file, message }) =>
      hiding.has(kind) ? [{ sessionKey, file, reason: message }] : [],
    ),
    ...short.map((log) => ({ sessionKey: log.sessionKey, file: log.file, reason: shortLogSentence(log) })),
  ];
  const uncounted = new Map<string | undefined, Uncounted>();
  for (const one of found) {
    const name = one.sessionKey ?? one.file;
    if (!uncounted.has(name)) uncounted.set(name, one);
  }
  return { uncounted: [...uncounted.values()], problem };
}

const endTexts: Readonly<Record<Exclude<LedgerEntry["end"], "lost">, string>> = {
  answered: "was answered",
  undelivered: "was answered, but not all of the answer arrived",
  refused: "was refused",
  cancelled: "was cancelled",
  failed: "has failed",
  pending: "still waits for its answer",
  settled: "is settled already",
};

/**
 * Notes of lost messages that a person has looked after them: all of them, or none. Returns them.
 *
 * @throws {EngineError} `locked` when a gateway runs; `persistence` when one of them is not lost
 */
export async function settleLost(files: GatewayFiles, messageIds: readonly string[]): Promise<readonly LedgerEntry[]> {
  const { home, workspace } = files;
  const locks = await lockFiles(home, workspace);
  try {
    const entries = await readOfflineLedger(home, workspace);
    const lost = [...new Set(messageIds)].flatMap((id) => lostEntries(entries, id));
    const options = {
      home,
      logs: {
        pathOf: logPaths(files),
        all: () => storedFiles(files).logs,
        mark: logsMarkPath(join(workspace, ".sessions")),
      },
      publish: () => {},
      instanceId: "gw_settle",
      log: silentLog,
      process: { onFatal: () => {} },
      lock: {
        assertHeld: () => {
          for (const lock of locks) lock.assertHeld();
        },
      },
    };
    await noteSettled(options, lost);
    return lost;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** @throws {EngineError} when the message is not lost in any conversation */
function lostEntries(entries: readonly LedgerEntry[], id: string): readonly LedgerEntry[] {
  const found = entries.filter(({ messageId }) => messageId === id);
  const lost = found.filter(({ end }) => end === "lost");
  if (lost.length > 0) return lost;
  const [end] = found.flatMap((entry) => (entry.end === "lost" ? [] : [endTexts[entry.end]]));
  throw new EngineError(`${id} ${end ?? "is not known"}. Only lost messages can be settled. Nothing was changed.`, {
    kind: "persistence",
    retryable: false,
  });
}
