import * as fs from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "../../../events/event.js";
import { type Logger, silentLog } from "../../../log.js";
import { codeOf } from "../../../util/error-code.js";
import type { LedgerEntry } from "../../engine.js";
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

/** The code of the event that ends a message of which nobody knows what became, once a person has looked after it. */
export const settledCode = "SETTLED";

interface Ended {
  readonly end: "answered" | "undelivered" | "failed" | "cancelled" | "refused" | "settled";
  readonly seq: number;
}

/** Replies that were given up, by message: one that is sent for again and arrives is taken out. */
type Undelivered = Map<string, Set<string>>;

interface Account {
  readonly messageId: string;
  readonly sessionKey: string;
  readonly acceptedSeq: number;
  /** In which pass over the files it was found first. */
  readonly pass: number;
}

/**
 * How each accepted message ended, read from the journal and the session logs alone; changes nothing. A gateway may be
 * at work meanwhile. Reads the logs as streams, so their size does not matter. Damaged lines are logged and skipped.
 */
export function readLedger(
  home: string,
  sessionsDir: string,
  log: Logger = silentLog,
): Promise<readonly LedgerEntry[]> {
  return readLedgerOf(home, () => listLogs(sessionsDir), log);
}

/** The same for logs that lie elsewhere. */
export async function readLedgerOf(
  home: string,
  sessionLogs: () => readonly string[],
  log: Logger,
): Promise<readonly LedgerEntry[]> {
  const accounts = new Map<string, Account>();
  const ends = new Map<string, Ended>();
  const undelivered: Undelivered = new Map();
  let entries: LedgerEntry[] = [];
  // What was accepted while the logs were being read is not in the journal as it was before them: what looks lost is
  // looked up once more in everything that is newer than the first look.
  for (let pass = 1; pass <= 2; pass += 1) {
    const records = readRecords(home);
    const note = (event: StoredEvent): void => noteEvent(event, pass, { accounts, ends, undelivered });
    for (const session of records.sessions.all()) for (const { event } of session.tail) note(event);
    for (const path of sessionLogs()) await readLog(path, note, undelivered, log);
    entries = [];
    for (const [id, account] of accounts) {
      const entry = settle(account, endOf(ends.get(id), undelivered.get(id)), records);
      const isTooNew = pass > 1 && account.pass === pass;
      if (entry !== undefined && !(entry.end === "lost" && isTooNew)) entries.push(entry);
    }
    if (entries.every(({ end }) => end !== "lost")) break;
  }
  return entries;
}

/** What was answered, and whose answer did not reach its chat. */
function endOf(ended: Ended | undefined, lost: ReadonlySet<string> = new Set()): Ended | undefined {
  return ended?.end === "answered" && lost.size > 0 ? { ...ended, end: "undelivered" } : ended;
}

function settle(account: Account, ended: Ended | undefined, records: LiveRecords): LedgerEntry | undefined {
  const { messageId, sessionKey, acceptedSeq } = account;
  if (acceptedSeq <= (records.sessions.tombstones.get(sessionKey)?.seq ?? 0)) return undefined;
  const about = { messageId, sessionKey, acceptedSeq };
  if (ended !== undefined && ended.end !== "refused") return { ...about, end: ended.end, endSeq: ended.seq };
  if (records.work.item("inbound", messageId) !== undefined) return { ...about, end: "pending" };
  if (ended !== undefined) return { ...about, end: "refused", endSeq: ended.seq };
  return { ...about, end: records.work.dead.has(messageId) ? "refused" : "lost" };
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

async function readLog(
  path: string,
  note: (event: StoredEvent) => void,
  undelivered: Undelivered,
  log: Logger,
): Promise<void> {
  // Most replies arrive: how they fared is read only where one was given up before.
  const counts = (bytes: Buffer): boolean =>
    kinds.some((kind) => bytes.includes(kind)) ||
    (bytes.includes(delivery) && (undelivered.size > 0 || givenUp.some((status) => bytes.includes(status))));
  await eachLine(path, (bytes, { line }) => {
    // What has no end is being written, or was when the process ended.
    if (bytes.at(-1) !== 0x0a || !counts(bytes)) return;
    const event = parseEventLine(bytes);
    if (event !== undefined) note(event);
    else log.warn("a damaged line of a session log was left out of the ledger", { file: path, line });
  });
}

function noteEvent(
  event: StoredEvent,
  pass: number,
  {
    accounts,
    ends,
    undelivered,
  }: {
    readonly accounts: Map<string, Account>;
    readonly ends: Map<string, Ended>;
    readonly undelivered: Undelivered;
  },
): void {
  const { session_key: sessionKey, seq } = event;
  const idOf = (messageId: string): string => `${sessionKey}\n${messageId}`;
  const end = (messageIds: readonly string[], how: Ended["end"]): void => {
    for (const id of messageIds.map(idOf)) {
      const known = ends.get(id);
      if (known === undefined || (how === "answered" && known.end !== "answered")) ends.set(id, { end: how, seq });
    }
  };
  switch (event.type) {
    case "user_message_queued": {
      const messageId = event.payload.message_id;
      const id = idOf(messageId);
      if (!accounts.has(id)) accounts.set(id, { messageId, sessionKey, acceptedSeq: seq, pass });
      break;
    }
    case "turn_execution_complete":
      end(event.payload.message_ids, "answered");
      break;
    case "turn_execution_failed":
      end(event.payload.message_ids, "failed");
      break;
    case "turn_execution_cancelled":
      end(event.payload.message_ids, "cancelled");
      break;
    case "error_occurred":
      // Written when a message is buried or turned away; an error that a turn survives is recoverable.
      if (event.correlation_id !== undefined && !event.payload.recoverable)
        end([event.correlation_id], event.payload.code === settledCode ? "settled" : "refused");
      break;
    case "outbound_delivery_changed":
      if (event.correlation_id !== undefined) noteDelivery(idOf(event.correlation_id), event.payload, undelivered);
      break;
    default:
  }
}

function noteDelivery(
  account: string,
  { outbound_id: id, status }: { readonly outbound_id: string; readonly status: string },
  undelivered: Undelivered,
): void {
  const lost = undelivered.get(account) ?? new Set();
  if (status === "dead_letter" || status === "refused") undelivered.set(account, lost.add(id));
  else if (status === "sent" && lost.delete(id) && lost.size === 0) undelivered.delete(account);
}
