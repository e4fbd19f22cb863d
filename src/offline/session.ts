import { join } from "node:path";
import { readStoredJournal } from "../engine/embedded/inspect/stored-files.js";
import { eachLine } from "../engine/embedded/logs/line-walk.js";
import { parseEventLine } from "../engine/embedded/logs/log-reading.js";
import { DocumentFold } from "../sessions/document/document.js";
import { createSessionFiles } from "../sessions/file-names.js";
import type { SessionDocument } from "../sessions/session.js";
import type { GatewayFiles } from "./events.js";

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
  const { sessions } = readStoredJournal({ home, logs: [], segment }).records;
  const log = createSessionFiles(join(workspace, ".sessions")).logPath(key);
  const fold = new DocumentFold(key);
  let last = sessions.tombstones.get(key)?.seq ?? 0;
  const before = last;
  let damagedLines: number[] = [];
  let damagedAtEnd = 0;
  await eachLine(
    log,
    (bytes, { line }) => {
      const event = parseEventLine(bytes, key);
      damagedAtEnd = event === undefined ? damagedAtEnd + 1 : 0;
      if (event === undefined) damagedLines.push(line);
      else if (event.seq > last) {
        fold.apply(event);
        last = event.seq;
      }
    },
    signal,
  );
  const rest = (sessions.find(key)?.tail ?? []).filter(({ event }) => event.seq > last);
  // What the journal makes up for is not a loss.
  if (rest[0]?.event.seq === last + 1) damagedLines = damagedLines.slice(0, damagedLines.length - damagedAtEnd);
  for (const { event } of rest) {
    fold.apply(event);
    last = event.seq;
  }
  return last === before ? undefined : { document: fold.toDocument(), log, damagedLines };
}
