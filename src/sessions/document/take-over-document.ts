import { basename } from "node:path";
import type { Engine } from "../../engine/engine.js";
import { draft } from "../../events/event.js";
import type { Logger } from "../../log.js";
import type { SessionFiles } from "../file-names.js";
import { type DocumentReading, type FoundDocument, setAside } from "./document-file.js";

interface TakeOverPorts {
  readonly engine: Pick<Engine, "append" | "lastSequence">;
  readonly files: SessionFiles;
  readonly log: Logger;
}

/**
 * Looks at a document before it is written over for the first time. One of the Go maxclaw becomes an event of the log,
 * and so does our own where its log is missing; one that shows more than its log holds is kept beside the next one.
 */
export async function takeOverDocument(
  { engine, files, log }: TakeOverPorts,
  { key, lastSequence }: { readonly key: string; readonly lastSequence: number },
  now: Date,
  reading: DocumentReading,
): Promise<void> {
  const path = files.documentPath(key);
  if (reading.status === "broken") {
    const aside = await setAside(path, now);
    log.warn(`${path} could not be read and was set aside as ${basename(aside)}: ${reading.why}`, { session: key });
    return;
  }
  if (reading.status === "missing" || reading.document.key !== key) return;
  const shown = reading.document.metadata?.lastSequence ?? 0;
  if (shown > lastSequence && lastSequence > 0) {
    const aside = await setAside(path, now, "newer");
    log.error(`The log of ${key} does not hold the last events that its document shows: kept as ${aside}`);
    return;
  }
  // A deleted session has no events either, but numbers that are used up.
  const isLogGone = shown > 0 && lastSequence === 0 && (await engine.lastSequence(key)) === 0;
  if (shown > 0 && !isLogGone) return;
  // A message may have been accepted before anybody opened the session: the older history still comes in.
  const messages = messagesOf(reading.document);
  if (messages.length === 0) return;
  await engine.append(key, [draft("session_history_changed", { kind: "import", messages }, { source: "gateway" })], {
    durable: true,
  });
  if (isLogGone) log.error(`The log of ${key} is missing: imported ${messages.length} messages from ${path}`);
  else log.info(`Imported ${messages.length} messages from ${path}`, { session: key });
}

function messagesOf({ messages }: FoundDocument) {
  return (messages ?? []).map((message) => ({
    role: message.role,
    content: message.content ?? "",
    ...(message.timestamp ? { timestamp: message.timestamp } : {}),
  }));
}
