import * as fs from "node:fs";
import { join } from "node:path";
import { type Logger, silentLog } from "../../../log.js";
import { codeOf } from "../../../util/error-code.js";
import type { LedgerEntry } from "../../engine.js";
import { MessageEnds } from "../../message-ends.js";
import { applyLines } from "../journal/load.js";
import { journalFolder, listSegments, parseSegment, readIfThere } from "../journal/segment.js";
import { eachLine } from "../logs/line-walk.js";
import { parseEventLine } from "../logs/log-reading.js";
import { LiveRecords } from "../state.js";

const logSuffix = ".events.jsonl";
const kinds = ["user_message_queued", "turn_execution_", "error_occurred"].map((kind) =>
  Buffer.from(`"type":"${kind}`),
);
const delivery = Buffer.from('"type":"outbound_delivery_changed"');
const givenUp = ["dead_letter", "refused"].map((status) => Buffer.from(`"status":"${status}"`));

/**
 * How each accepted message ended, read from the journal and the session logs alone; changes nothing. A gateway may be
 * at work meanwhile. Reads the logs as streams, so their size does not matter. Damaged lines are logged and skipped, and
 * so are logs that the system does not let anybody read: `verifyStoredEvents` finds both.
 */
export function readLedger(
  home: string,
  sessionsDir: string,
  log: Logger = silentLog,
): Promise<readonly LedgerEntry[]> {
  const onUnreadable = (file: string, error: unknown): void =>
    log.warn("a session log cannot be read, and was left out of the ledger", { file, error });
  return readLedgerOf(home, () => listLogs(sessionsDir), log, onUnreadable);
}

/** The same for logs that lie elsewhere. @throws when a log cannot be read, without `onUnreadable` */
export async function readLedgerOf(
  home: string,
  sessionLogs: () => readonly string[],
  log: Logger,
  onUnreadable?: (file: string, error: unknown) => void,
): Promise<readonly LedgerEntry[]> {
  const ends = new MessageEnds();
  let entries: LedgerEntry[] = [];
  // What was accepted while the logs were being read is not in the journal as it was before them: what looks lost is
  // looked up once more in everything that is newer than the first look.
  for (let pass = 1; pass <= 2; pass += 1) {
    const records = readRecords(home);
    for (const session of records.sessions.all()) for (const { event } of session.tail) ends.note(event, pass);
    for (const path of sessionLogs()) {
      try {
        await readLog(path, ends, pass, log);
      } catch (error) {
        if (onUnreadable === undefined || codeOf(error) === undefined) throw error;
        onUnreadable(path, error);
      }
    }
    const lookup = {
      deletedSeq: (key: string) => records.sessions.tombstones.get(key)?.seq ?? 0,
      isWaiting: (id: string) => records.work.item("inbound", id) !== undefined,
      isDead: (id: string) => records.work.dead.has(id),
    };
    const isTooNew = (found: number): boolean => pass > 1 && found === pass;
    entries = ends
      .entries(lookup)
      .flatMap((found) => (found.entry.end === "lost" && isTooNew(found.pass) ? [] : [found.entry]));
    if (entries.every(({ end }) => end !== "lost")) break;
  }
  return entries;
}

/** The live records as they are in the journal's newest complete segment. */
export function readRecords(home: string): LiveRecords {
  const folder = journalFolder(home);
  const records = new LiveRecords();
  if (!fs.existsSync(folder)) return records;
  for (const { path } of listSegments(folder).reverse()) {
    const bytes = readIfThere(path);
    // A running gateway has just replaced it: the one that replaces it is there now.
    if (bytes === undefined) return readRecords(home);
    const content = parseSegment(path, bytes);
    if (content.checkpointEnd === undefined) continue;
    applyLines(records, content, content.size);
    return records;
  }
  return records;
}

function listLogs(sessionsDir: string): readonly string[] {
  try {
    const names = fs.readdirSync(sessionsDir).filter((name) => name.endsWith(logSuffix));
    return names.sort().map((name) => join(sessionsDir, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function readLog(path: string, ends: MessageEnds, pass: number, log: Logger): Promise<void> {
  // Most replies arrive: how they fared is read only where one was given up before.
  const counts = (bytes: Buffer): boolean =>
    kinds.some((kind) => bytes.includes(kind)) ||
    (bytes.includes(delivery) && (ends.hasUndelivered || givenUp.some((status) => bytes.includes(status))));
  await eachLine(path, (bytes, { line }) => {
    // What has no end is being written, or was when the process ended.
    if (bytes.at(-1) !== 0x0a || !counts(bytes)) return;
    const event = parseEventLine(bytes);
    if (event !== undefined) ends.note(event, pass);
    else log.warn("a damaged line of a session log was left out of the ledger", { file: path, line });
  });
}
