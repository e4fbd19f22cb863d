import { readFile, rm } from "node:fs/promises";
import { messageOf, StorageError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { foundDocument, writeDocument } from "../document/document-file.js";
import type { SessionFiles } from "../file-names.js";
import { lineOf, SessionIndex } from "../list/session-index.js";
import { type SessionLine, sessionLine } from "../list/session-line.js";
import { isKindInScan, parseRecordKey, type RecordKind, recordKey, recordKinds } from "./keys.js";
import type { Change, StorageDriver } from "./storage.js";

type Parts = Map<RecordKind, object | undefined>;

/**
 * Documents as `<name>.json` beside the session logs, head and messages in one file that is replaced as a whole; the two
 * index records are lines of one index file, which is read on first use. A document without a line gets one.
 */
export function createFileStorage(files: SessionFiles, log: Logger): StorageDriver {
  const index = new SessionIndex(files.dir, log);
  let isClosed = false;

  const told = async <T>(path: string, what: string, work: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new StorageError("The session storage (file) is closed");
    try {
      return await work();
    } catch (error) {
      throw new StorageError(`${path} could not be ${what}: ${messageOf(error)}`, { cause: error, retryable: true });
    }
  };

  const lines = (): Promise<ReadonlyMap<string, SessionLine>> => told(files.dir, "read", () => index.lines());

  const get = async (key: string): Promise<object | undefined> => {
    const { kind, sessionKey } = parsed(key);
    if (isIndexed(kind)) return indexed(kind, sessionKey, await lines());
    const path = files.documentPath(sessionKey);
    return await told(path, "read", async () => {
      const document = await load(path);
      return kind === "head" ? headOf(document) : messagesOf(sessionKey, document);
    });
  };

  const getMany = async (keys: readonly string[]): Promise<readonly (object | undefined)[]> => {
    const known = await lines();
    return await Promise.all(
      keys.map((key) => {
        const { kind, sessionKey } = parsed(key);
        return isIndexed(kind) ? indexed(kind, sessionKey, known) : get(key);
      }),
    );
  };

  const apply = async (sessionKey: string, parts: Parts): Promise<void> => {
    const path = files.documentPath(sessionKey);
    const isDocument = parts.has("head") || parts.has("messages");
    if (isDocument) {
      const before = parts.has("head") && parts.has("messages") ? {} : await load(path);
      const head = parts.has("head") ? parts.get("head") : headOf(before);
      const messages = parts.has("messages") ? parts.get("messages") : messagesOf(sessionKey, before);
      if (head === undefined && messages === undefined) {
        await rm(path, { force: true });
        return await index.remove(sessionKey);
      }
      const document = composed(sessionKey, head, messages);
      await writeDocument(path, document);
      if (!parts.has("line"))
        return await index.put(lineOf(foundDocument.parse(document), files.documentName(sessionKey)));
    }
    if (!parts.has("line")) return;
    const line = parts.get("line");
    if (line === undefined) await index.remove(sessionKey);
    else await index.put(sessionLine.parse(line));
  };

  const change = async (changes: readonly Change[]): Promise<void> => {
    const sessions = new Map<string, Parts>();
    for (const { key, value } of changes) {
      const { kind, sessionKey } = parsed(key);
      const parts: Parts = sessions.get(sessionKey) ?? new Map();
      sessions.set(sessionKey, parts.set(kind, value));
    }
    for (const [sessionKey, parts] of sessions)
      await told(files.documentPath(sessionKey), "written", () => apply(sessionKey, parts));
  };

  return {
    name: "file",
    get,
    getMany,
    set: (key, value) => change([{ key, value }]),
    delete: (key) => change([{ key, value: undefined }]),
    async keys(prefix) {
      const sessions = [...(await lines()).keys()];
      return recordKinds
        .filter((kind) => isKindInScan(kind, prefix))
        .flatMap((kind) => sessions.map((key) => recordKey(kind, key)))
        .filter((key) => key.startsWith(prefix));
    },
    change,
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await index[Symbol.asyncDispose]();
    },
  };
}

function parsed(key: string): { readonly kind: RecordKind; readonly sessionKey: string } {
  const found = parseRecordKey(key);
  if (found === undefined) throw new StorageError(`"${key}" is no key of a session's records`);
  return found;
}

function isIndexed(kind: RecordKind): kind is "line" | "chat" {
  return kind === "line" || kind === "chat";
}

function indexed(kind: "line" | "chat", key: string, lines: ReadonlyMap<string, SessionLine>): object | undefined {
  const line = lines.get(key);
  return line && (kind === "line" ? line : { key });
}

/** @throws when it is there and no JSON object */
async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const document: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if (typeof document !== "object" || document === null) throw new Error("it is no session document");
  return { ...document };
}

function headOf({ messages: _messages, ...head }: Readonly<Record<string, unknown>>): object | undefined {
  return head.metadata === undefined ? undefined : head;
}

function messagesOf(key: string, { messages }: Readonly<Record<string, unknown>>): object | undefined {
  return messages === undefined ? undefined : { key, messages };
}

/** The messages stand between title and metadata, where people look for them first. */
function composed(key: string, head: object = {}, messages: object = {}): object {
  const { metadata, ...rest } = { metadata: undefined, ...head };
  return { key, ...rest, ...messages, metadata };
}
