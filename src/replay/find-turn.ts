import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readRecords } from "../engine/embedded/inspect/ledger.js";
import { parseEventLine } from "../engine/embedded/logs/log-reading.js";
import type { StoredEvent } from "../events/event.js";
import { createSessionFiles, logSuffix } from "../sessions/file-names.js";

/** A session's log, as far as it was written. */
export interface SessionLog {
  readonly sessionKey: string;
  /** In order; a damaged line is missing. */
  readonly events: readonly StoredEvent[];
}

/**
 * The log of the session that a turn stands in, read from the journal and the session logs alone; undefined when no
 * log knows the turn. Changes nothing, and a gateway may be at work meanwhile.
 */
export async function findTurn(home: string, sessionsDir: string, turnId: string): Promise<SessionLog | undefined> {
  // Events move from the journal to the logs: in this order none is missed.
  const { sessions } = readRecords(home);
  const recent = [...sessions.all()].find(({ tail }) => tail.some(({ event }) => event.turn_id === turnId));
  const sessionKey = recent?.key ?? (await keyByLog(sessionsDir, turnId));
  if (sessionKey === undefined) return undefined;
  const bySeq = new Map<number, StoredEvent>();
  const path = createSessionFiles(sessionsDir).logPath(sessionKey);
  for (const event of await readLog(path)) bySeq.set(event.seq, event);
  for (const { event } of sessions.find(sessionKey)?.tail ?? []) bySeq.set(event.seq, event);
  const deletedUpTo = sessions.tombstones.get(sessionKey)?.seq ?? 0;
  const events = [...bySeq.values()].filter(({ seq }) => seq > deletedUpTo).sort((a, b) => a.seq - b.seq);
  return events.some((event) => event.turn_id === turnId) ? { sessionKey, events } : undefined;
}

async function keyByLog(sessionsDir: string, turnId: string): Promise<string | undefined> {
  const wanted = Buffer.from(`"turn_id":"${turnId}"`);
  const names = fs.existsSync(sessionsDir) ? fs.readdirSync(sessionsDir) : [];
  for (const name of names) {
    if (!name.endsWith(logSuffix)) continue;
    const path = join(sessionsDir, name);
    if (!(await holds(path, wanted))) continue;
    const found = (await readLog(path)).find((event) => event.turn_id === turnId);
    if (found !== undefined) return found.session_key;
  }
  return undefined;
}

/** Looks for the bytes without taking the whole file into memory. */
async function holds(path: string, wanted: Buffer): Promise<boolean> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of fs.createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    if (bytes.includes(wanted)) return true;
    rest = bytes.subarray(Math.max(0, bytes.length - wanted.length));
  }
  return false;
}

async function readLog(path: string): Promise<readonly StoredEvent[]> {
  if (!fs.existsSync(path)) return [];
  const bytes = await readFile(path);
  const events: StoredEvent[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(0x0a, start);
    const end = lf === -1 ? bytes.length : lf + 1;
    const event = parseEventLine(bytes.subarray(start, end));
    if (event !== undefined) events.push(event);
    start = end;
  }
  return events;
}
