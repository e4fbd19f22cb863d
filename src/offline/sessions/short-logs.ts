import { join } from "node:path";
import { findLogEnd } from "../../engine/embedded/damage/log-end.js";
import type { LiveRecords } from "../../engine/embedded/state.js";
import { readDocument, shownSequence } from "../../sessions/document/document-file.js";
import { logSuffix } from "../../sessions/file-names.js";
import type { GatewayFiles } from "../events.js";
import { namesIn } from "../files.js";

const documentName = /^[^.].*\.json$/;

/** A conversation whose document shows more than its log holds. */
export interface ShortLog {
  readonly sessionKey: string;
  readonly file: string;
  readonly lastSeq: number;
  readonly shownSeq: number;
}

/**
 * Finds logs that are gone, emptied or cut where a line ends, of a gateway that does not run. `records`: what the journal
 * holds is not missing. Changes nothing.
 */
export async function findShortLogs(
  { workspace }: Pick<GatewayFiles, "workspace">,
  records?: LiveRecords,
): Promise<readonly ShortLog[]> {
  const dir = join(workspace, ".sessions");
  const found: ShortLog[] = [];
  for (const name of [...namesIn(dir)].sort()) {
    if (!documentName.test(name)) continue;
    const shownSeq = shownSequence(join(dir, name));
    const file = join(dir, name.replace(/\.json$/, logSuffix));
    const inLog = shownSeq === 0 ? 0 : findLogEnd(file, undefined, undefined).lastSeq;
    if (shownSeq <= inLog) continue;
    const reading = await readDocument(join(dir, name));
    if (reading.status !== "ok") continue;
    const { key: sessionKey } = reading.document;
    const { lastSeq = 0 } = records?.sessions.find(sessionKey) ?? {};
    const inJournal = Math.max(lastSeq, records?.sessions.tombstones.get(sessionKey)?.seq ?? 0);
    if (shownSeq > inJournal) found.push({ sessionKey, file, lastSeq: Math.max(inLog, inJournal), shownSeq });
  }
  return found;
}

export function shortLogSentence({ sessionKey, file, lastSeq, shownSeq }: ShortLog): string {
  const what = lastSeq === 0 ? "has no events" : `ends with event ${lastSeq}`;
  return `The log of ${sessionKey} ${what}, and its document shows events up to ${shownSeq} (${file}). Run: maxclaw repair`;
}
