import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createNotes } from "../memory/notes.js";
import { type OwnFile, readOwnFile } from "../memory/own-file.js";
import { paragraphsOf } from "../memory/paragraphs.js";
import { createMemorySearch, type Passage, type Source } from "../memory/search.js";
import type { DocumentMessage } from "../sessions/session.js";
import { memorySearchTool, type SearchScope } from "../tools/memory/memory-search.js";
import { memoryWriteTool } from "../tools/memory/memory-write.js";
import type { Tool, ToolContext } from "../tools/tool.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { Provenance } from "./labels.js";
import type { GatewayOptions } from "./options.js";
import type { Readership } from "./readers.js";

/** The newest conversations are searched, so that the index stays within some tens of megabytes. */
const maxSessions = 2000;
/** What search calls the notes of a chat that has its own. */
const notesOf = "the notes of ";

/** The tools that remember: the owner's memory where only owners read along, else that of the chat. */
export function memoryTools(options: GatewayOptions, core: Core, { readers, chatMemory }: Assistant): readonly Tool[] {
  const { workspace } = options.config.config.agents.defaults;
  const notes = createNotes({ root: workspace, name: "memory/MEMORY.md" });
  const search = createMemorySearch(async () => {
    const sessions = await sessionSources(core, readers);
    const chats = sessions.map(({ id }) => readers.ofSession(id)).filter(({ audience }) => audience === "others");
    const notes = await chatSources(new Set(chats.map(({ chat }) => chat)), chatMemory.notesFile, core.provenance);
    return [...sessions, ...notes, ...(await fileSources(workspace, core.provenance))];
  });
  const scopeOf = (context: ToolContext): SearchScope => {
    const { audience, chat } = readers.of(context);
    const isHere = (id: string): boolean => id === chat || id.startsWith(`${chat}:`) || id === `${notesOf}${chat}`;
    const isOwners = (id: string): boolean =>
      id.startsWith("memory/") || (/^(?!cron:)[a-z0-9-]+:/.test(id) && readers.ofSession(id).audience === "owner");
    const outsideOf = (id: string): string | undefined => {
      if (isHere(id) || isOwners(id)) return undefined;
      return id.startsWith(notesOf) ? id : `the conversation ${id}`;
    };
    return audience === "owner"
      ? { of: "owner", allows: () => true, outsideOf }
      : { of: "chat", allows: isHere, outsideOf: () => undefined };
  };
  return [
    memorySearchTool(search, scopeOf),
    memoryWriteTool((context) => {
      const { audience, chat } = readers.of(context);
      return audience === "owner" ? { of: "owner", notes } : { of: "chat", notes: chatMemory.notes(chat) };
    }),
  ];
}

async function sessionSources({ sessions }: Core, readers: Readership): Promise<readonly Source[]> {
  const newest = (await sessions.list()).slice(0, maxSessions);
  return newest.map(({ key, messageCount, lastMessageAt }) => ({
    id: key,
    stamp: `${messageCount} ${lastMessageAt ?? ""}`,
    read: async () => {
      // Elsewhere the conversation as a whole counts as others'.
      const guests = readers.ofSession(key).audience === "owner" ? `what guests wrote in ${key}` : undefined;
      return (await sessions.peek(key))?.flatMap((message) => toPassage(message, guests));
    },
  }));
}

function toPassage(message: DocumentMessage, guests: string | undefined): Passage[] {
  const { role, content, timestamp, forGuest } = message;
  if (role !== "user" && role !== "assistant") return [];
  const at = Date.parse(timestamp);
  const outside = message.outside ?? (forGuest === true ? guests : undefined);
  return [{ from: role, text: content, outside, ...(Number.isNaN(at) ? {} : { at }) }];
}

/** `memory/*.md`, paragraph by paragraph. */
async function fileSources(workspace: string, provenance: Provenance): Promise<readonly Source[]> {
  const names = (await readdir(join(workspace, "memory")).catch(() => [])).filter((name) => name.endsWith(".md"));
  const files = names.map((name) => `memory/${name}`);
  return (await Promise.all(files.map((name) => fileSource(name, { root: workspace, name }, provenance)))).flat();
}

/** The notes of those chats that have some. */
async function chatSources(
  chats: ReadonlySet<string>,
  fileOf: (chat: string) => OwnFile,
  provenance: Provenance,
): Promise<readonly Source[]> {
  const files = [...chats].map((chat) => ({ chat, file: fileOf(chat) }));
  const roots = new Set(files.map(({ file }) => file.root));
  const kept = await Promise.all([...roots].map((root) => readdir(root).catch(() => [])));
  const present = new Set(kept.flat());
  const likely = files.filter(({ file }) => present.has(basename(dirname(dirname(file.name)))));
  return (await Promise.all(likely.map(({ chat, file }) => fileSource(`${notesOf}${chat}`, file, provenance)))).flat();
}

async function fileSource(id: string, file: OwnFile, provenance: Provenance): Promise<readonly Source[]> {
  const found = await lstat(join(file.root, file.name)).catch(() => undefined);
  if (found === undefined || !found.isFile()) return [];
  return [{ id, stamp: `${found.mtimeMs} ${found.size}`, read: () => readParagraphs(file, provenance) }];
}

async function readParagraphs(file: OwnFile, { files, texts }: Provenance): Promise<readonly Passage[] | undefined> {
  const text = await readOwnFile(file).catch(() => undefined);
  if (text === undefined) return undefined;
  const ofFile = await files.outsideOf(await realpath(join(file.root, file.name)), undefined);
  return await Promise.all(
    paragraphsOf(text).map(async (paragraph): Promise<Passage> => {
      const isForeign = await texts.isForeign(paragraph);
      return { from: "note", text: paragraph, outside: ofFile ?? (isForeign ? "an earlier conversation" : undefined) };
    }),
  );
}
