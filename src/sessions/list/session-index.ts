import { appendFile, mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { appendOnly, readOnly } from "../../util/files/real-path.js";
import { replaceFile } from "../../util/files/replace-file.js";
import { type FoundDocument, readDocument } from "../document/document-file.js";
import { documentSuffix, goFileName, hashedFileName, sessionFileName } from "../file-names.js";
import type { SessionSummary } from "../session.js";
import { type SessionLine, sessionLine } from "./session-line.js";

const indexName = ".index.jsonl";

/** So long after a document went its line goes from the file: many that go in one moment cost one writing. */
const tidyMs = 1000;

/**
 * The lines of the sessions whose documents are files: one per written document in `.index.jsonl`, the last line of a
 * file counts. Only a cache: documents that it does not know are read, and lines whose document is gone are left out.
 */
export class SessionIndex implements AsyncDisposable {
  readonly #dir: string;
  readonly #path: string;
  readonly #log: Logger;
  #loading: Promise<Loaded> | undefined;
  readonly #inOrder = new InOrder();
  /** Sessions whose lines are still in the file. */
  readonly #gone = new Set<string>();
  #tidyTimer: NodeJS.Timeout | undefined;

  constructor(dir: string, log: Logger) {
    this.#dir = dir;
    this.#path = join(dir, indexName);
    this.#log = log;
  }

  /** By session, every document on disk. Reads the index file, and what it misses, on first use. */
  async lines(): Promise<ReadonlyMap<string, SessionLine>> {
    this.#loading ??= loadIndex(this.#dir, this.#path, this.#log);
    return (await this.#loading).lines;
  }

  put(line: SessionLine): Promise<void> {
    return this.#inTurn(async () => {
      await mkdir(this.#dir, { recursive: true });
      await appendFile(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600, flag: appendOnly });
      if (this.#loading === undefined) return;
      const loaded = await this.#loading;
      loaded.lines.set(line.key, line);
      loaded.written += 1;
      if (hasGrown(loaded)) await rewrite(this.#path, loaded);
    });
  }

  /** For a session whose document is off the disk. Soon the file says no more of it either. */
  remove(key: string): Promise<void> {
    return this.#inTurn(async () => {
      (await this.#loading)?.lines.delete(key);
      this.#gone.add(key);
      this.#tidyTimer ??= setTimeout(() => void this.#inTurn(() => this.#tidy()), tidyMs);
    });
  }

  /** The file says nothing of sessions that are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inTurn(() => this.#tidy());
  }

  async #tidy(): Promise<void> {
    clearTimeout(this.#tidyTimer);
    this.#tidyTimer = undefined;
    if (this.#gone.size === 0) return;
    try {
      const loaded = await this.#loading;
      if (loaded !== undefined) await rewrite(this.#path, loaded);
      else await dropLines(this.#path, this.#gone);
      this.#gone.clear();
    } catch (error) {
      this.#log.warn(`${this.#path} still holds lines of deleted sessions: the next start takes them out`, { error });
    }
  }

  /** Lines and new files take turns, so that none is lost. */
  #inTurn(job: () => Promise<void>): Promise<void> {
    return this.#inOrder.run(job);
  }
}

export function newestFirst(a: SessionSummary, b: SessionSummary): number {
  const [left, right] = [a.lastMessageAt ?? "", b.lastMessageAt ?? ""];
  if (left !== right) return left < right ? 1 : -1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

interface Loaded {
  readonly lines: Map<string, SessionLine>;
  /** Lines in the index file. */
  written: number;
}

function hasGrown({ lines, written }: Loaded): boolean {
  return written > 2 * lines.size + 1000;
}

async function rewrite(path: string, loaded: Loaded): Promise<void> {
  const text = [...loaded.lines.values()].map((line) => `${JSON.stringify(line)}\n`).join("");
  await replaceFile(path, text, { sync: false, mode: 0o600 });
  loaded.written = loaded.lines.size;
}

/** Without taking the whole list into memory for good. */
async function dropLines(path: string, keys: ReadonlySet<string>): Promise<void> {
  const lines = (await readFile(path, { encoding: "utf8", flag: readOnly }).catch(() => "")).split("\n");
  const kept = lines.filter((text) => !keys.has(parseLine(text)?.key ?? ""));
  if (kept.length < lines.length) await replaceFile(path, kept.join("\n"), { sync: false, mode: 0o600 });
}

async function loadIndex(dir: string, path: string, log: Logger): Promise<Loaded> {
  const known = new Map<string, SessionLine>();
  const loaded: Loaded = { lines: new Map(), written: 0 };
  for (const text of (await readFile(path, { encoding: "utf8", flag: readOnly }).catch(() => "")).split("\n")) {
    if (text === "") continue;
    loaded.written += 1;
    const line = parseLine(text);
    if (line !== undefined) known.set(line.file, line);
  }
  let unlisted = 0;
  let found = 0;
  for (const file of await readdir(dir).catch(() => [])) {
    if (!file.endsWith(documentSuffix) || file.startsWith(".")) continue;
    const listed = known.get(file);
    const line = listed ?? (await readLine(dir, file, log));
    if (line === undefined) continue;
    if (listed === undefined) unlisted += 1;
    else found += 1;
    const twin = loaded.lines.get(line.key);
    if (twin === undefined || file === `${sessionFileName(line.key)}${documentSuffix}`)
      loaded.lines.set(line.key, line);
  }
  // Lines of documents that are gone tell of what was deleted.
  if (unlisted > 0 || found < known.size || hasGrown(loaded)) {
    await rewrite(path, loaded).catch((error: unknown) => {
      log.warn(`${path} could not be written: the next start reads these documents again`, { error });
    });
  }
  return loaded;
}

function parseLine(text: string): SessionLine | undefined {
  try {
    return sessionLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function readLine(dir: string, file: string, log: Logger): Promise<SessionLine | undefined> {
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
  const at = Date.parse(last?.timestamp ?? "");
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
