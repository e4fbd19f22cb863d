import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type OwnFile, readOwnFile } from "./own-file.js";
import { paragraphsOf } from "./paragraphs.js";
import type { Passage, Source } from "./search.js";
import type { Whose, WhoseOf } from "./whose.js";

/** The newest conversations are searched, so that the index stays within some tens of megabytes. */
const maxSessions = 2000;
/** What search calls the notes of a chat that has its own. */
const notesOf = "the notes of ";

export interface SourcePorts {
  readonly workspace: string;
  readonly sessions: FoundSessions;
  readonly whoseOf: WhoseOf;
  readonly notesFile: (chat: string) => OwnFile;
  readonly provenance: FileProvenance;
}

/** Where what is in the memory's files came from, when others had a hand in it. */
export interface FileProvenance {
  /** `path`: the real one. */
  outsideOf(path: string): Promise<string | undefined>;
  isForeign(paragraph: string): Promise<boolean>;
}

interface FoundSessions {
  /** Newest first. */
  list(part: {
    readonly limit: number;
  }): Promise<
    readonly { readonly key: string; readonly messageCount: number; readonly lastMessageAt?: string | undefined }[]
  >;
  peek(key: string): Promise<readonly FoundMessage[] | undefined>;
}

interface FoundMessage {
  readonly role: string;
  readonly content: string;
  readonly timestamp: string;
  readonly outside?: string | undefined;
  readonly forGuest?: true | undefined;
}

/** All that can be found: conversations, the notes of chats, and the files of the owner's memory. */
export async function listMemorySources(ports: SourcePorts): Promise<readonly Source[]> {
  const { sessions, whoseOf, provenance } = ports;
  const conversations = await listSessionSources(sessions, whoseOf);
  const chats = conversations.map(({ id }) => whoseOf(id)).filter(({ audience }) => audience === "others");
  const notes = await chatSources(new Set(chats.map(({ chat }) => chat)), ports.notesFile, provenance);
  return [...conversations, ...notes, ...(await fileSources(ports.workspace, provenance))];
}

/** What may be found by those who read along now, by the id of its source. */
export interface SearchReach {
  readonly of: "owner" | "chat";
  readonly allows: (sourceId: string) => boolean;
  /** What it is, where others than those who are here now have a say in what is there. */
  readonly outsideOf: (sourceId: string) => string | undefined;
}

/** Owners find all, everyone else what belongs to their own chat. */
export function searchReach({ audience, chat }: Whose, whoseOf: WhoseOf): SearchReach {
  const isHere = (id: string): boolean => id === chat || id.startsWith(`${chat}:`) || id === `${notesOf}${chat}`;
  if (audience !== "owner") return { of: "chat", allows: isHere, outsideOf: () => undefined };
  const isOwners = (id: string): boolean =>
    id.startsWith("memory/") || (/^(?!cron:)[a-z0-9-]+:/.test(id) && whoseOf(id).audience === "owner");
  return {
    of: "owner",
    allows: () => true,
    outsideOf(id) {
      if (isHere(id) || isOwners(id)) return undefined;
      return id.startsWith(notesOf) ? id : `the conversation ${id}`;
    },
  };
}

async function listSessionSources(sessions: FoundSessions, whoseOf: WhoseOf): Promise<readonly Source[]> {
  const newest = await sessions.list({ limit: maxSessions });
  return newest.map(({ key, messageCount, lastMessageAt }) => ({
    id: key,
    stamp: `${messageCount} ${lastMessageAt ?? ""}`,
    read: async () => {
      // Elsewhere the conversation as a whole counts as others'.
      const guests = whoseOf(key).audience === "owner" ? `what guests wrote in ${key}` : undefined;
      return (await sessions.peek(key))?.flatMap((message) => toPassage(message, guests));
    },
  }));
}

function toPassage(message: FoundMessage, guests: string | undefined): Passage[] {
  const { role, content, timestamp, forGuest } = message;
  if (role !== "user" && role !== "assistant") return [];
  const at = Date.parse(timestamp);
  const outside = message.outside ?? (forGuest === true ? guests : undefined);
  return [{ from: role, text: content, outside, ...(Number.isNaN(at) ? {} : { at }) }];
}

/** `memory/*.md`, paragraph by paragraph. */
async function fileSources(workspace: string, provenance: FileProvenance): Promise<readonly Source[]> {
  const names = (await readdir(join(workspace, "memory")).catch(() => [])).filter((name) => name.endsWith(".md"));
  const files = names.map((name) => `memory/${name}`);
  return (await Promise.all(files.map((name) => fileSource(name, { root: workspace, name }, provenance)))).flat();
}

/** The notes of those chats that have some. */
async function chatSources(
  chats: ReadonlySet<string>,
  fileOf: (chat: string) => OwnFile,
  provenance: FileProvenance,
): Promise<readonly Source[]> {
  const files = [...chats].map((chat) => ({ chat, file: fileOf(chat) }));
  const roots = new Set(files.map(({ file }) => file.root));
  const kept = await Promise.all([...roots].map((root) => readdir(root).catch(() => [])));
  const present = new Set(kept.flat());
  const likely = files.filter(({ file }) => present.has(basename(dirname(dirname(file.name)))));
  return (await Promise.all(likely.map(({ chat, file }) => fileSource(`${notesOf}${chat}`, file, provenance)))).flat();
}

async function fileSource(id: string, file: OwnFile, provenance: FileProvenance): Promise<readonly Source[]> {
  const found = await lstat(join(file.root, file.name)).catch(() => undefined);
  if (found === undefined || !found.isFile()) return [];
  return [{ id, stamp: `${found.mtimeMs} ${found.size}`, read: () => readParagraphs(file, provenance) }];
}

async function readParagraphs(file: OwnFile, provenance: FileProvenance): Promise<readonly Passage[] | undefined> {
  const text = await readOwnFile(file).catch(() => undefined);
  if (text === undefined) return undefined;
  const ofFile = await provenance.outsideOf(await realpath(join(file.root, file.name)));
  return await Promise.all(
    paragraphsOf(text).map(async (paragraph): Promise<Passage> => {
      const isForeign = await provenance.isForeign(paragraph);
      return { from: "note", text: paragraph, outside: ofFile ?? (isForeign ? "an earlier conversation" : undefined) };
    }),
  );
}
