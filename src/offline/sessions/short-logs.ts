import { join } from "node:path";
import { findLogEnd } from "../../engine/embedded/damage/log-end.js";
import { readRecords } from "../../engine/embedded/inspect/ledger.js";
import type { LiveRecords } from "../../engine/embedded/state.js";
import { isBelow } from "../../events/session-key.js";
import { readDocument, shownSequence } from "../../sessions/document/document-file.js";
import { logSuffix } from "../../sessions/file-names.js";
import { eachIndexLine, indexName } from "../../sessions/list/index-file.js";
import { deletionKind } from "../../sessions/record-kinds.js";
import { createStorageMark } from "../../sessions/storage/mark.js";
import type { GatewayFiles } from "../events.js";
import { namesIn } from "../files.js";

const documentName = /^[^.].*\.json$/;

/** A conversation of which something else shows more than its log holds. */
export interface ShortLog {
  readonly sessionKey: string;
  readonly file: string;
  readonly lastSeq: number;
  readonly shownSeq: number;
  /** What shows it. In the list of conversations are also those whose document is gone too: nothing can bring them back. */
  readonly shownBy: "document" | "list";
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
    const inLog = shownSeq === 0 ? 0 : lastSeqIn(file);
    if (shownSeq <= inLog) continue;
    const reading = await readDocument(join(dir, name));
    if (reading.status !== "ok") continue;
    const { key: sessionKey } = reading.document;
    const lastSeq = Math.max(inLog, lastSeqInJournal(sessionKey, records));
    if (shownSeq > lastSeq) found.push({ sessionKey, file, lastSeq, shownSeq, shownBy: "document" });
  }
  return found;
}

/** The same for conversations whose document is gone as well, which the list of conversations still knows. */
async function findGone({ workspace }: GatewayFiles, records: LiveRecords): Promise<readonly ShortLog[]> {
  const dir = join(workspace, ".sessions");
  const names = new Set(namesIn(dir));
  const lines = new Map<string, { readonly file: string; readonly lastSequence: number }>();
  // With the documents elsewhere, the list here may be old.
  if (!(await createStorageMark(dir, undefined).isCurrent())) return [];
  await eachIndexLine(join(dir, indexName), ({ head, isWhole }) => {
    if (head === undefined || !isWhole || names.has(head.file)) return;
    lines.set(head.key, { file: head.file, lastSequence: head.lastSequence ?? 0 });
  });
  const begun = [...(records.facts.get(deletionKind)?.keys() ?? [])];
  return [...lines].flatMap(([sessionKey, { file: document, lastSequence: shownSeq }]) => {
    if (begun.some((deleted) => sessionKey === deleted || isBelow(sessionKey, deleted))) return [];
    const file = join(dir, document.replace(/\.json$/, logSuffix));
    const lastSeq = Math.max(lastSeqIn(file), lastSeqInJournal(sessionKey, records));
    return shownSeq > lastSeq ? [{ sessionKey, file, lastSeq, shownSeq, shownBy: "list" as const }] : [];
  });
}

/** Both. A gateway may be at work meanwhile: what it has written or deleted since `records` were read is not missing. */
export async function findMissing(files: GatewayFiles, records: LiveRecords): Promise<readonly ShortLog[]> {
  const found = [...(await findShortLogs(files, records)), ...(await findGone(files, records))];
  if (files.segment === undefined || found.length === 0) return found;
  const now = readRecords(files.home);
  return found.filter(
    ({ sessionKey, file, shownSeq }) => shownSeq > Math.max(lastSeqInJournal(sessionKey, now), lastSeqIn(file)),
  );
}

/** A log that cannot be read is damaged, and is told as that. */
function lastSeqIn(file: string): number {
  try {
    return findLogEnd(file, undefined, undefined).lastSeq;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function lastSeqInJournal(sessionKey: string, records: LiveRecords | undefined): number {
  const { lastSeq = 0 } = records?.sessions.find(sessionKey) ?? {};
  return Math.max(lastSeq, records?.sessions.tombstones.get(sessionKey)?.seq ?? 0);
}

export function shortLogSentence({ sessionKey, file, lastSeq, shownSeq, shownBy }: ShortLog): string {
  const what = lastSeq === 0 ? "has no events" : `ends with event ${lastSeq}`;
  return shownBy === "document"
    ? `The log of ${sessionKey} ${what}, and its document shows events up to ${shownSeq} (${file}). Run: maxclaw repair`
    : `The log of ${sessionKey} ${what}, its document is gone, and the list of conversations shows events up to ${shownSeq} (${file}). Put both back from a backup`;
}
