import { existsSync, opendirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../log.js";
import { isMissing } from "../../util/error-code.js";
import { documentSuffix, logSuffix, sessionFileName } from "../file-names.js";
import { eachIndexLine } from "./index-file.js";
import type { LineHead } from "./index-line.js";
import { LoadedIndex, type Place } from "./loaded-index.js";
import { readLine } from "./read-line.js";
import { rewriteIndex } from "./rewrite-index.js";

/** So many names of a folder are looked at before others go on. */
const namesPerSlice = 4096;

interface LoadOptions {
  readonly log: Logger;
  /** The index file stays as it is. */
  readonly isReadOnly: boolean;
}

/** Reads the index file and compares it with the documents there are. */
export async function loadIndex(dir: string, path: string, { log, isReadOnly }: LoadOptions): Promise<LoadedIndex> {
  const loaded = new LoadedIndex();
  const twins = await readIndex(path, loaded);
  const found = await compareFolder(dir, loaded, twins);
  const isIncomplete = await settleFound(dir, loaded, found, log);
  // Lines of documents that are gone tell about what was deleted.
  if (!isReadOnly && (isIncomplete || loaded.hasGrown)) {
    await rewriteIndex(path, loaded).catch((error: unknown) => {
      log.warn(`${path} could not be written: the next start reads these documents again`, { error });
    });
  }
  return loaded;
}

/** Lines of one session that name different files, by file. */
type Twins = Map<string, { readonly head: LineHead; readonly place: Place }>;

async function readIndex(path: string, loaded: LoadedIndex): Promise<Twins> {
  const last = new Map<string, { readonly head: LineHead; readonly place: Place }>();
  await eachIndexLine(path, (line) => {
    if (loaded.putPlain(line)) return;
    const { head } = line;
    if (head === undefined || !line.isWhole) return loaded.skip();
    const place = { offset: line.offset, length: line.length };
    const row = loaded.rows.numberOf(head.key);
    const before = row === undefined ? undefined : loaded.fileOf(head.key);
    if (row !== undefined && before !== undefined && before !== head.file) {
      const { at, lastSequence } = loaded.rows.get(head.key) ?? { at: undefined, lastSequence: undefined };
      const known = { offset: loaded.places.offsetOf(row), length: loaded.places.lengthOf(row) };
      last.set(before, { head: { key: head.key, file: before, at, lastSequence }, place: known });
      last.set(head.file, { head, place });
    }
    loaded.put(head, place);
  });
  return last;
}

interface Found {
  /** Documents without a line. */
  readonly documents: readonly string[];
  /** Logs whose documents have no line. */
  readonly logs: readonly string[];
  /** Sessions whose documents are gone. */
  readonly gone: readonly string[];
}

/** One way through the folder, a slice at a time. */
async function compareFolder(dir: string, loaded: LoadedIndex, twins: Twins): Promise<Found> {
  const isThere = new Set<string>();
  const there = new Uint8Array(loaded.rows.end);
  const documents: string[] = [];
  const logs: string[] = [];
  await eachName(dir, (name) => {
    if (name.startsWith(".")) return;
    const isLog = name.endsWith(logSuffix);
    if (!isLog && !name.endsWith(documentSuffix)) return;
    const suffix = (isLog ? logSuffix : documentSuffix).length;
    const isTwin = twins.size > 0 && twins.has(`${name.slice(0, -suffix)}${documentSuffix}`);
    const row = isTwin ? undefined : loaded.rowOfName(name, suffix);
    if (isLog) {
      if (row === undefined && !isTwin) logs.push(name);
    } else if (isTwin) isThere.add(name);
    else if (row === undefined) documents.push(name);
    else there[row] = 1;
  });
  for (const { head, place } of twins.values()) {
    const isUsual = head.file === `${sessionFileName(head.key)}${documentSuffix}`;
    const row = loaded.rows.numberOf(head.key) ?? 0;
    if (!isThere.has(head.file) || (there[row] === 1 && !isUsual)) continue;
    loaded.put(head, place);
    there[row] = 1;
  }
  const gone = [...loaded.rows.numbers()].flatMap((row) => (there[row] === 1 ? [] : [loaded.rows.keyOf(row)]));
  return { documents, logs, gone };
}

/** True when the file does not say what is known now. */
async function settleFound(dir: string, loaded: LoadedIndex, found: Found, log: Logger): Promise<boolean> {
  const logs = [...found.logs];
  for (const key of found.gone) {
    const name = `${loaded.fileOf(key).slice(0, -documentSuffix.length)}${logSuffix}`;
    loaded.remove(key);
    if (existsSync(join(dir, name))) logs.push(name);
  }
  for (const file of found.documents) {
    const line = await readLine(dir, file, log);
    if (line === undefined) continue;
    if (!loaded.rows.has(line.key) || file === `${sessionFileName(line.key)}${documentSuffix}`) loaded.add(line);
  }
  loaded.strayLogs = logs.filter(
    (name) => loaded.rowOfFile(`${name.slice(0, -logSuffix.length)}${documentSuffix}`) === undefined,
  );
  return found.gone.length > 0 || loaded.unwritten.size > 0;
}

async function eachName(dir: string, onName: (name: string) => void): Promise<void> {
  let folder: ReturnType<typeof opendirSync>;
  try {
    folder = opendirSync(dir, { bufferSize: 1024 });
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  try {
    for (let count = 1, entry = folder.readSync(); entry !== null; count += 1, entry = folder.readSync()) {
      onName(entry.name);
      if (count % namesPerSlice === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    folder.closeSync();
  }
}
