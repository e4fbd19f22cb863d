import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { documentSuffix, keyOfLog, logSuffix } from "../file-names.js";
import { isNamedAfter } from "../list/read-line.js";
import type { SessionRepository } from "../session-repository.js";
import { readDocument } from "./document-file.js";

/** Sessions with a log, or with a document from elsewhere, and without a line in the list. */
export async function findUnlisted(dir: string, repository: SessionRepository): Promise<readonly string[]> {
  const strayLogs = await repository.strayLogs();
  // An index has looked through the folder, and has read the documents that it did not know.
  const names = strayLogs ?? (await readdir(dir).catch(() => []));
  const listed = strayLogs === undefined ? repository.listedFiles : new Set<string>();
  const keys: string[] = [];
  for (const name of names) {
    const isLog = name.endsWith(logSuffix);
    const document = isLog ? `${name.slice(0, -logSuffix.length)}${documentSuffix}` : name;
    if (!document.endsWith(documentSuffix) || name.startsWith(".") || listed.has(document)) continue;
    const key = isLog ? keyOfLog(join(dir, name)) : await keyOfDocument(dir, name);
    if (key !== undefined && !repository.rows.has(key)) keys.push(key);
  }
  return keys;
}

async function keyOfDocument(dir: string, name: string): Promise<string | undefined> {
  const reading = await readDocument(join(dir, name));
  return reading.status === "ok" && isNamedAfter(name, reading.document.key) ? reading.document.key : undefined;
}
