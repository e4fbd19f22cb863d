import { join } from "node:path";
import { readStoredJournal } from "../../engine/embedded/inspect/stored-files.js";
import { eachLine } from "../../engine/embedded/logs/line-walk.js";
import { parseEventLine } from "../../engine/embedded/logs/log-reading.js";
import type { LiveRecords } from "../../engine/embedded/state.js";
import type { StoredEvent } from "../../events/event.js";
import { DocumentFold } from "../../sessions/document/document.js";
import { createSessionFiles } from "../../sessions/file-names.js";
import type { SessionDocument } from "../../sessions/session.js";
import type { GatewayFiles } from "../events.js";

export interface StoredSession {
  readonly document: SessionDocument;
  readonly log: string;
  /** Lines of the log that could not be read and are left out, from 1. */
  readonly damagedLines: readonly number[];
}

/**
 * A session as its log tells it, with what only the journal holds yet; its document on disk plays no part. Undefined when
 * there are no events of it. Changes nothing.
 */
export async function readStoredSession(
  { home, workspace, segment }: GatewayFiles,
  key: string,
  signal: AbortSignal,
): Promise<StoredSession | undefined> {
  const { records } = readStoredJournal({ home, logs: [], segment });
  const fold = new DocumentFold(key);
  const walk = { workspace, records, key, onEvent: (event: StoredEvent): void => fold.apply(event) };
  const { count, log, damagedLines } = await eachStoredEvent(walk, signal);
  return count === 0 ? undefined : { document: fold.toDocument(), log, damagedLines };
}

interface SessionWalk {
  readonly workspace: string;
  /** What the journal says. */
  readonly records: LiveRecords;
  readonly key: string;
  readonly onEvent: (event: StoredEvent) => void;
}

/** Calls back with each event of a session: those of its log, then those that only the journal holds yet. Changes nothing. */
export async function eachStoredEvent(
  { workspace, records: { sessions }, key, onEvent }: SessionWalk,
  signal: AbortSignal,
): Promise<Omit<StoredSession, "document"> & { readonly count: number }> {
  const log = createSessionFiles(join(workspace, ".sessions")).logPath(key);
  let last = sessions.tombstones.get(key)?.seq ?? 0;
  let count = 0;
  const take = (event: StoredEvent): void => {
    onEvent(event);
    last = event.seq;
    count += 1;
  };
  let damagedLines: number[] = [];
  let damagedAtEnd = 0;
  await eachLine(
    log,
    (bytes, { line }) => {
      const event = parseEventLine(bytes, key);
      damagedAtEnd = event === undefined ? damagedAtEnd + 1 : 0;
      if (event === undefined) damagedLines.push(line);
      else if (event.seq > last) take(event);
    },
    signal,
  );
  const rest = (sessions.find(key)?.tail ?? []).filter(({ event }) => event.seq > last);
  // What the journal makes up for is not a loss.
  if (rest[0]?.event.seq === last + 1) damagedLines = damagedLines.slice(0, damagedLines.length - damagedAtEnd);
  for (const { event } of rest) take(event);
  return { count, log, damagedLines };
}
