import * as fs from "node:fs";
import { join } from "node:path";
import { readRecords } from "../engine/embedded/inspect/ledger.js";
import { eachLine } from "../engine/embedded/logs/line-walk.js";
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
 * The log of the session that a turn is in, read from the journal and the session logs alone; undefined when no
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
    let key: string | undefined;
    await eachLine(join(sessionsDir, name), (bytes) => {
      if (key !== undefined || !bytes.includes(wanted)) return;
      const event = parseEventLine(bytes);
      if (event?.turn_id === turnId) key = event.session_key;
    });
    if (key !== undefined) return key;
  }
  return undefined;
}

async function readLog(path: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  await eachLine(path, (bytes) => {
    const event = parseEventLine(bytes);
    if (event !== undefined) events.push(event);
  });
  return events;
}
