import { appendFile, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Logger } from "../log.js";
import { replaceFile } from "../util/replace-file.js";
import { readDocument } from "./document-file.js";
import { goFileName, hashedFileName, keyOfLog, logSuffix, sessionFileName } from "./file-names.js";
import type { SessionSummary } from "./session.js";

const entry = z.object({
  key: z.string(),
  file: z.string(),
  title: z.string().optional(),
  summary: z.string().optional(),
  messageCount: z.number(),
  lastMessageAt: z.string().optional(),
  lastMessage: z.string().optional(),
  lastSequence: z.number().optional(),
});
type Entry = z.infer<typeof entry>;

/** Where a document stands, and up to where it shows its session's log. */
interface Place {
  readonly file: string;
  readonly lastSequence: number;
}

const indexName = ".index.jsonl";
const documentSuffix = ".json";

/** What lists of sessions are made from, without opening any session. */
export interface SessionIndex {
  /** Every session with a document on disk. Reads the index file, and what it misses, on first use. */
  list(): Promise<readonly SessionSummary[]>;
  /** Up to where the session's document shows its log; undefined when there is no document. */
  lastSequence(key: string): Promise<number | undefined>;
  /** Sessions that have a log and no document. */
  undocumented(): Promise<readonly string[]>;
  put(summary: SessionSummary, place: Place): Promise<void>;
  remove(key: string): Promise<void>;
}

/**
 * One line per written document in `.index.jsonl`, the last line of a file counts. Only a cache: documents that it does
 * not know are read, and lines whose document is gone are left out.
 */
export function createSessionIndex(dir: string, log: Logger): SessionIndex {
  const path = join(dir, indexName);
  let loading: Promise<Loaded> | undefined;
  let last: Promise<void> = Promise.resolve();
  const load = (): Promise<Loaded> => {
    loading ??= loadIndex(dir, path, log);
    return loading;
  };
  /** Lines and new files take turns, so that none is lost. */
  const inTurn = (job: () => Promise<void>): Promise<void> => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    async list() {
      const { entries } = await load();
      return [...entries.values()].map(({ file: _file, lastSequence: _lastSequence, ...summary }) => summary);
    },
    async lastSequence(key) {
      return (await load()).entries.get(key)?.lastSequence;
    },
    async undocumented() {
      const { entries, logs } = await load();
      return logs.filter((key) => !entries.has(key));
    },
    put: (summary, place) =>
      inTurn(async () => {
        const line: Entry = { ...summary, ...place };
        await mkdir(dir, { recursive: true });
        await appendFile(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
        if (loading === undefined) return;
        const loaded = await loading;
        loaded.entries.set(line.key, line);
        loaded.lines += 1;
        if (hasGrown(loaded)) await rewrite(path, loaded);
      }),
    remove: (key) => inTurn(async () => void (await load()).entries.delete(key)),
  };
}

export function newestFirst(a: SessionSummary, b: SessionSummary): number {
  const [left, right] = [a.lastMessageAt ?? "", b.lastMessageAt ?? ""];
  if (left !== right) return left < right ? 1 : -1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

interface Loaded {
  readonly entries: Map<string, Entry>;
  /** Keys of the logs that stood without a document. */
  readonly logs: readonly string[];
  /** In the index file. */
  lines: number;
}

function hasGrown({ entries, lines }: Loaded): boolean {
  return lines > 2 * entries.size + 1000;
}

async function rewrite(path: string, loaded: Loaded): Promise<void> {
  const text = [...loaded.entries.values()].map((line) => `${JSON.stringify(line)}\n`).join("");
  await replaceFile(path, text, { sync: false, mode: 0o600 });
  loaded.lines = loaded.entries.size;
}

async function loadIndex(dir: string, path: string, log: Logger): Promise<Loaded> {
  const known = new Map<string, Entry>();
  const names = await readdir(dir).catch(() => []);
  const loaded: Loaded = { entries: new Map(), logs: logsAlone(dir, names), lines: 0 };
  for (const line of (await readFile(path, "utf8").catch(() => "")).split("\n")) {
    if (line === "") continue;
    loaded.lines += 1;
    const parsed = parseEntry(line);
    if (parsed !== undefined) known.set(parsed.file, parsed);
  }
  let unlisted = 0;
  for (const file of names) {
    if (!file.endsWith(documentSuffix) || file.startsWith(".")) continue;
    const listed = known.get(file);
    const summary = listed ?? (await summarise(dir, file, log));
    if (summary === undefined) continue;
    if (listed === undefined) unlisted += 1;
    const twin = loaded.entries.get(summary.key);
    if (twin === undefined || file === `${sessionFileName(summary.key)}${documentSuffix}`)
      loaded.entries.set(summary.key, summary);
  }
  if (unlisted > 0 || hasGrown(loaded)) {
    await rewrite(path, loaded).catch((error: unknown) => {
      log.warn(`${path} could not be written: the next start reads these documents again`, { error });
    });
  }
  return loaded;
}

function logsAlone(dir: string, names: readonly string[]): readonly string[] {
  const all = new Set(names);
  return names.flatMap((name) => {
    if (!name.endsWith(logSuffix) || all.has(`${name.slice(0, -logSuffix.length)}${documentSuffix}`)) return [];
    return keyOfLog(join(dir, name)) ?? [];
  });
}

function parseEntry(line: string): Entry | undefined {
  try {
    return entry.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

async function summarise(dir: string, file: string, log: Logger): Promise<Entry | undefined> {
  const reading = await readDocument(join(dir, file));
  if (reading.status !== "ok") {
    if (reading.status === "broken") log.warn(`${file} is no session document: ${reading.why}`);
    return undefined;
  }
  const { key, title, metadata } = reading.document;
  if (!isNamedAfter(file, key)) {
    log.warn(`${file} holds the session ${key}, which has another file name: it is left out`);
    return undefined;
  }
  const messages = reading.document.messages ?? [];
  const last = messages.at(-1);
  const at = Date.parse(last?.timestamp ?? "");
  return {
    key,
    file,
    ...(title ? { title } : {}),
    messageCount: messages.length,
    ...(Number.isNaN(at) ? {} : { lastMessageAt: new Date(at).toISOString() }),
    ...(last?.content ? { lastMessage: last.content.slice(0, 200) } : {}),
    ...(metadata?.lastSequence ? { lastSequence: metadata.lastSequence } : {}),
  };
}

function isNamedAfter(file: string, key: string): boolean {
  const name = file.slice(0, -documentSuffix.length);
  return name === sessionFileName(key) || name === goFileName(key) || name === hashedFileName(key);
}
