import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { channelOf, chatOf } from "../events/session-key.js";
import { readOnly, readPlain } from "../util/files/real-path.js";

/** How the file names of a session's document and log end. */
export const documentSuffix = ".json";
export const logSuffix = ".events.jsonl";

/** The log of the gateway's own events, in the home. */
export const gatewayLogName = "gateway.events.jsonl";

/** A second mark of the journal, in the folder of the session logs. */
export function logsMarkPath(dir: string): string {
  return join(dir, ".journal.mark");
}

const maxNameBytes = 150;
const headBytes = 4096;

/** The usual file name of a session, without extension: readable, safe on every file system, reversible by eye. */
export function sessionFileName(key: string): string {
  const encoded = `${percentEncode(channelOf(key))}_${percentEncode(chatOf(key))}`;
  return Buffer.byteLength(encoded) > maxNameBytes || /\.jsonl?$/.test(encoded) ? hashedFileName(key) : encoded;
}

/** The name for keys that are too long, or whose usual name belongs to another session. */
export function hashedFileName(key: string): string {
  const digest = createHash("sha256").update(key).digest("hex").slice(0, 16);
  const encoded = `${percentEncode(channelOf(key))}_${percentEncode(chatOf(key))}`.replace(/\.jsonl?$/, "");
  return `${encoded.slice(0, maxNameBytes - 17).replace(/%[0-9a-f]?$/, "")}~${digest}`;
}

/** The key in the usual name of a session's log; undefined for other files, and for names that do not hold their whole key. */
export function keyOfLogName(file: string): string | undefined {
  const name = file.endsWith(logSuffix) ? file.slice(0, -logSuffix.length) : "";
  const [, channel, chat] = /^([^_~]+)_([^~]+)$/.exec(name) ?? [];
  if (channel === undefined || chat === undefined) return undefined;
  try {
    const key = `${decodeURIComponent(channel)}:${decodeURIComponent(chat)}`;
    return sessionFileName(key) === name ? key : undefined;
  } catch {
    // Bytes that are not text.
    return undefined;
  }
}

/** The name that the Go maxclaw gave the same session. */
export function goFileName(key: string): string {
  return key.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The session logs in a folder. */
export function logsIn(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(logSuffix))
    .sort()
    .map((name) => join(dir, name));
}

/** Where a session's files are. Answers for a key never change while the process runs. */
export interface SessionFiles {
  /** Holds documents and logs, and what is kept about all of them. */
  readonly dir: string;
  /** Holds the sessions' folders. */
  readonly foldersDir: string;
  documentPath(key: string): string;
  /** The last part of `documentPath`. */
  documentName(key: string): string;
  logPath(key: string): string;
  /** The session's own folder; may not exist. */
  folder(key: string): string;
  /** What the gateway itself keeps of the session; may not exist. No tool can write there. */
  kept(key: string): string;
}

/** `foldersDir`: where the sessions' folders are, if that is not where their documents are. */
export function createSessionFiles(dir: string, foldersDir = dir): SessionFiles {
  const names = new Map<string, string>();
  const nameOf = (key: string): string => {
    const known = names.get(key);
    if (known !== undefined) return known;
    if (names.size > 10_000) names.clear();
    const name = chooseName(dir, key);
    names.set(key, name);
    return name;
  };
  return {
    dir,
    foldersDir,
    documentPath: (key) => join(dir, `${nameOf(key)}${documentSuffix}`),
    documentName: (key) => `${nameOf(key)}${documentSuffix}`,
    logPath: (key) => join(dir, `${nameOf(key)}${logSuffix}`),
    folder: (key) => join(foldersDir, nameOf(key)),
    kept: (key) => join(foldersDir, ".kept", nameOf(key)),
  };
}

function percentEncode(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    const plain = /[a-z0-9_-]/.test(character) || (character === "." && encoded !== "");
    encoded += plain ? character : `%${byte.toString(16).padStart(2, "0")}`;
  }
  return encoded;
}

/** The name under which this key's files are already; else the usual one, or the hashed one if that is taken. */
function chooseName(dir: string, key: string): string {
  const usual = sessionFileName(key);
  const owners = new Map<string, string | undefined>();
  for (const name of new Set([usual, hashedFileName(key), goFileName(key)])) {
    const owner = ownerOf(dir, name);
    if (owner === key) return name;
    owners.set(name, owner);
  }
  const owner = owners.get(usual);
  return owner === undefined || owner === key ? usual : hashedFileName(key);
}

/** The key that is in the log or the document of this name; undefined when there is none that can be read. */
function ownerOf(dir: string, name: string): string | undefined {
  return (
    keyOfLog(join(dir, `${name}${logSuffix}`)) ??
    keyInHead(join(dir, `${name}.json`), /^\s*\{\s*"key"\s*:\s*("(?:[^"\\]|\\.)*")/) ??
    keyInDocument(join(dir, `${name}.json`))
  );
}

/** The key of the session whose log this is; undefined when its head cannot be read. */
export function keyOfLog(path: string): string | undefined {
  return keyInHead(path, /"session_key":("(?:[^"\\]|\\.)*")/);
}

function keyInHead(path: string, pattern: RegExp): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, readOnly);
  } catch {
    return undefined;
  }
  try {
    const head = Buffer.alloc(headBytes);
    const length = readSync(descriptor, head, 0, headBytes, 0);
    const found = pattern.exec(head.toString("utf8", 0, length))?.[1];
    return found === undefined ? undefined : parseKey(found);
  } catch {
    // A bad disk fails here; who needs the bytes themselves says so.
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** The key in a document; undefined when it cannot be read. */
export function keyInDocument(path: string): string | undefined {
  let document: unknown;
  try {
    document = JSON.parse(readPlain(path).toString());
  } catch {
    return undefined;
  }
  if (typeof document !== "object" || document === null || !("key" in document)) return undefined;
  return typeof document.key === "string" ? document.key : undefined;
}

function parseKey(quoted: string): string | undefined {
  try {
    const key: unknown = JSON.parse(quoted);
    return typeof key === "string" ? key : undefined;
  } catch {
    return undefined;
  }
}
