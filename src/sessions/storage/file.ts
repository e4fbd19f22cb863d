import { readFile, rm } from "node:fs/promises";
import { StorageError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { pathOf } from "../../util/error-code.js";
import { readOnly } from "../../util/files/real-path.js";
import { reasonOf } from "../../util/files/system-fault.js";
import { foundDocument, writeDocument } from "../document/document-file.js";
import type { SessionFiles } from "../file-names.js";
import { lineOf } from "../list/read-line.js";
import { SessionIndex } from "../list/session-index.js";
import { sessionLine } from "../list/session-line.js";
import type { SessionRows } from "../list/session-rows.js";
import { isKindInScan, parseRecordKey, type RecordKind, recordKey, recordKinds } from "./keys.js";
import type { Change, StorageDriver } from "./storage.js";
import type { StorageIndex } from "./storage-index.js";

type Parts = Map<RecordKind, object | undefined>;

/**
 * Documents as `<name>.json` beside the session logs, head and messages in one file that is replaced as a whole; the two
 * index records are lines of one index file, which is read on first use. A document without a line gets one.
 */
export function createFileStorage(files: SessionFiles, log: Logger): StorageDriver {
  return new FileStorage(files, log);
}

/** The only storage whose lines need not be kept in memory: it can always be asked for them. */
export class FileStorage implements StorageDriver {
  readonly name = "file";
  readonly index: StorageIndex = {
    rows: () => this.#rows(),
    strayLogs: () => this.#guard(this.#files.dir, "read", () => this.#index.strayLogs()),
  };
  readonly #files: SessionFiles;
  readonly #index: SessionIndex;
  #isClosed = false;

  /** `isReadOnly`: nothing is written by itself either, as the index file is where it misses a document. */
  constructor(files: SessionFiles, log: Logger, options: { readonly isReadOnly?: boolean } = {}) {
    this.#files = files;
    this.#index = new SessionIndex(files.dir, log, options);
  }

  async get(key: string): Promise<object | undefined> {
    const { kind, sessionKey } = parsed(key);
    if (isIndexed(kind)) return (await this.getMany([key]))[0];
    const path = this.#files.documentPath(sessionKey);
    return await this.#guard(path, "read", async () => {
      const document = await load(path);
      return kind === "head" ? headOf(document) : messagesOf(sessionKey, document);
    });
  }

  async getMany(keys: readonly string[]): Promise<readonly (object | undefined)[]> {
    const wanted = keys.map(parsed);
    const ofLines = wanted.flatMap(({ kind, sessionKey }) => (isIndexed(kind) ? [sessionKey] : []));
    const lines = ofLines.length === 0 ? [] : await this.#lines(ofLines);
    const byKey = new Map(ofLines.map((key, index) => [key, lines[index]]));
    return await Promise.all(
      wanted.map(({ kind, sessionKey }, index) => {
        if (!isIndexed(kind)) return this.get(keys[index] ?? "");
        const line = byKey.get(sessionKey);
        return line && (kind === "line" ? line : { key: sessionKey });
      }),
    );
  }

  set(key: string, value: object): Promise<void> {
    return this.change([{ key, value }]);
  }

  delete(key: string): Promise<void> {
    return this.change([{ key, value: undefined }]);
  }

  async keys(prefix: string): Promise<readonly string[]> {
    const sessions = [...(await this.#rows()).keys()];
    return recordKinds
      .filter((kind) => isKindInScan(kind, prefix))
      .flatMap((kind) => sessions.map((key) => recordKey(kind, key)))
      .filter((key) => key.startsWith(prefix));
  }

  async change(changes: readonly Change[]): Promise<void> {
    const sessions = new Map<string, Parts>();
    for (const { key, value } of changes) {
      const { kind, sessionKey } = parsed(key);
      const parts: Parts = sessions.get(sessionKey) ?? new Map();
      sessions.set(sessionKey, parts.set(kind, value));
    }
    for (const [sessionKey, parts] of sessions)
      await this.#guard(this.#files.documentPath(sessionKey), "written", () => this.#write(sessionKey, parts));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#index[Symbol.asyncDispose]();
  }

  #rows(): Promise<SessionRows> {
    return this.#guard(this.#files.dir, "read", () => this.#index.rows());
  }

  #lines(keys: readonly string[]): Promise<readonly (object | undefined)[]> {
    return this.#guard(this.#files.dir, "read", () => this.#index.lines(keys));
  }

  async #write(sessionKey: string, parts: Parts): Promise<void> {
    if (parts.has("head") || parts.has("messages")) {
      const document = await this.#writeDocument(sessionKey, parts);
      if (document === undefined) return await this.#index.remove(sessionKey);
      if (!parts.has("line"))
        return await this.#index.put(lineOf(foundDocument.parse(document), this.#files.documentName(sessionKey)));
    }
    if (!parts.has("line")) return;
    const line = parts.get("line");
    if (line === undefined) await this.#index.remove(sessionKey);
    else await this.#index.put(sessionLine.parse(line));
  }

  /** The document with these parts, or undefined where nothing is left of it. */
  async #writeDocument(sessionKey: string, parts: Parts): Promise<object | undefined> {
    const path = this.#files.documentPath(sessionKey);
    const before = parts.has("head") && parts.has("messages") ? {} : await load(path);
    const head = parts.has("head") ? parts.get("head") : headOf(before);
    const messages = parts.has("messages") ? parts.get("messages") : messagesOf(sessionKey, before);
    if (head === undefined && messages === undefined) {
      await rm(path, { force: true });
      return undefined;
    }
    const document = composed(sessionKey, head, messages);
    await writeDocument(path, document);
    return document;
  }

  /** @throws {StorageError} with what could not be done to which file */
  async #guard<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StorageError("The session storage (file) is closed");
    try {
      return await work();
    } catch (error) {
      const text = `${pathOf(error) ?? path} could not be ${what}: ${reasonOf(error)}`;
      throw new StorageError(text, { cause: error, retryable: true });
    }
  }
}

function parsed(key: string): { readonly kind: RecordKind; readonly sessionKey: string } {
  const found = parseRecordKey(key);
  if (found === undefined) throw new StorageError(`"${key}" is not a key of a session's records`);
  return found;
}

function isIndexed(kind: RecordKind): kind is "line" | "chat" {
  return kind === "line" || kind === "chat";
}

/** @throws when it is there and no JSON object */
async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, { encoding: "utf8", flag: readOnly }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if (typeof document !== "object" || document === null) throw new Error("it is not a session document");
  return { ...document };
}

function headOf({ messages: _messages, ...head }: Readonly<Record<string, unknown>>): object | undefined {
  return head.metadata === undefined ? undefined : head;
}

function messagesOf(key: string, { messages }: Readonly<Record<string, unknown>>): object | undefined {
  return messages === undefined ? undefined : { key, messages };
}

/** The messages are between title and metadata, where people look for them first. */
function composed(key: string, head: object = {}, messages: object = {}): object {
  const { metadata, ...rest } = { metadata: undefined, ...head };
  return { key, ...rest, ...messages, metadata };
}
