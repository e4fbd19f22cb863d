import { join } from "node:path";
import type { Logger } from "../../log.js";
import { type FoundDocument, readDocument } from "../document/document-file.js";
import { documentSuffix, goFileName, hashedFileName, sessionFileName } from "../file-names.js";
import type { SessionLine } from "./session-line.js";

/** The line of a document that the list does not know; undefined where it is not a session's, which the log tells. */
export async function readLine(dir: string, file: string, log: Logger): Promise<SessionLine | undefined> {
  const reading = await readDocument(join(dir, file));
  if (reading.status !== "ok") {
    if (reading.status === "broken") log.warn(`${file} is not a session document: ${reading.why}`);
    return undefined;
  }
  const { key } = reading.document;
  if (isNamedAfter(file, key)) return lineOf(reading.document, file);
  log.warn(`${file} holds the session ${key}, which has another file name: it is left out`);
  return undefined;
}

/** What the list shows of a document whose line is not known. */
export function lineOf({ key, title, metadata, messages }: FoundDocument, file: string): SessionLine {
  const last = messages?.at(-1);
  const saidAt = Date.parse(last?.timestamp ?? "");
  const copiedAt = metadata?.forkedFrom ? Date.parse(metadata.createdAt ?? "") : Number.NaN;
  // As the session itself tells it.
  const at = copiedAt > saidAt ? copiedAt : saidAt;
  return {
    key,
    file,
    ...(title ? { title } : {}),
    messageCount: messages?.length ?? 0,
    ...(Number.isNaN(at) ? {} : { lastMessageAt: new Date(at).toISOString() }),
    ...(last?.content ? { lastMessage: last.content.slice(0, 200) } : {}),
    ...(metadata?.lastSequence ? { lastSequence: metadata.lastSequence } : {}),
  };
}

/** True when a document of this file name can be that of the session. */
export function isNamedAfter(file: string, key: string): boolean {
  const name = file.slice(0, -documentSuffix.length);
  return name === sessionFileName(key) || name === goFileName(key) || name === hashedFileName(key);
}
