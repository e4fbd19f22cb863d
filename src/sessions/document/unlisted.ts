import { accessSync, constants, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isMissing, notPlain } from "../../util/error-code.js";
import { systemSentence } from "../../util/files/system-fault.js";
import { documentSuffix, keyOfLog, logSuffix } from "../file-names.js";
import { isNamedAfter } from "../list/read-line.js";
import type { SessionRepository } from "../session-repository.js";
import { readDocument } from "./document-file.js";

/**
 * Sessions with a log, or with a document from elsewhere, and without a line in the list. `onProblem`: gets a sentence
 * for each log that does not tell whose it is.
 */
export async function findUnlisted(
  dir: string,
  repository: SessionRepository,
  onProblem: (problem: string) => void,
): Promise<readonly string[]> {
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
    const problem = key === undefined && isLog ? problemOf(join(dir, name)) : undefined;
    if (problem !== undefined) onProblem(problem);
  }
  return keys;
}

/** Why nobody knows whose log this is; undefined for one that is empty, as a crash may leave it. */
function problemOf(path: string): string | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile()) return systemSentence(notPlain(path, found));
    accessSync(path, constants.R_OK);
    return found.size === 0 ? undefined : `The first line of ${path} cannot be read. Run "maxclaw repair".`;
  } catch (error) {
    return isMissing(error) ? undefined : systemSentence(error);
  }
}

async function keyOfDocument(dir: string, name: string): Promise<string | undefined> {
  const reading = await readDocument(join(dir, name));
  return reading.status === "ok" && isNamedAfter(name, reading.document.key) ? reading.document.key : undefined;
}
