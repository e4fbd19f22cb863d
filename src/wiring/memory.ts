import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { askModel, canWrite } from "../agent/ask-model.js";
import { startTitles } from "../agent/titles.js";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import { depthOf } from "../events/session-key.js";
import type { Logger } from "../log.js";
import { type DayOfSession, runDailySummaries } from "../memory/daily-summary.js";
import { createNotes } from "../memory/notes.js";
import { type OwnFile, readOwnFile } from "../memory/own-file.js";
import { createMemorySearch, type Passage, type Source } from "../memory/search.js";
import type { DocumentMessage } from "../sessions/session.js";
import { memorySearchTool, type SearchScope } from "../tools/memory/memory-search.js";
import { memoryWriteTool } from "../tools/memory/memory-write.js";
import type { Tool, ToolContext } from "../tools/tool.js";
import type { Releases } from "../util/releases.js";
import type { Assistant } from "./assistant.js";
import { type Core, gatewayKey } from "./core.js";
import type { GatewayOptions } from "./options.js";
import type { Readership } from "./readers.js";

/** The newest conversations are searched, so that the index stays within some tens of megabytes. */
const maxSessions = 2000;
const summaryMaxTokens = 1500;
const summarySystem =
  "Summarise this day's conversations for the assistant's own long-term memory: what people wanted, what was decided or done, what is open, and lasting facts about them. Short Markdown bullets, in the language of the conversations. Leave out small talk and secrets.";

/** What search calls the notes of a chat that has its own. */
const notesOf = "the notes of ";

/** The tools that remember: the owner's memory where only owners read along, else that of the chat. */
export function memoryTools(options: GatewayOptions, core: Core, { readers, chatMemory }: Assistant): readonly Tool[] {
  const { workspace } = options.config.config.agents.defaults;
  const notes = createNotes({ root: workspace, name: "memory/MEMORY.md" });
  const search = createMemorySearch(async () => {
    const sessions = await sessionSources(core);
    const chats = sessions.map(({ id }) => readers.ofSession(id)).filter(({ audience }) => audience === "others");
    const notes = await chatSources(new Set(chats.map(({ chat }) => chat)), chatMemory.notesFile);
    return [...sessions, ...notes, ...(await fileSources(workspace))];
  });
  const scopeOf = (context: ToolContext): SearchScope => {
    const { audience, chat } = readers.of(context);
    const isHere = (id: string): boolean => id === chat || id.startsWith(`${chat}:`) || id === `${notesOf}${chat}`;
    const isOwners = (id: string): boolean =>
      id.startsWith("memory/") || (/^(?!cron:)[a-z0-9-]+:/.test(id) && readers.ofSession(id).audience === "owner");
    return audience === "owner"
      ? { of: "owner", allows: () => true, isForeign: (id) => !isHere(id) && !isOwners(id) }
      : { of: "chat", allows: isHere, isForeign: () => false };
  };
  return [
    memorySearchTool(search, scopeOf),
    memoryWriteTool((context) => {
      const { audience, chat } = readers.of(context);
      return audience === "owner" ? { of: "owner", notes } : { of: "chat", notes: chatMemory.notes(chat) };
    }),
  ];
}

/** The memory of a chat goes with the last of its conversations. */
function forgetWithChats({ events, sessions }: Core, { readers, chatMemory }: Assistant, log: Logger): () => void {
  const forget = async (key: string): Promise<void> => {
    const { audience, chat } = readers.ofSession(key);
    if (audience === "owner" || depthOf(key) > 0) return;
    const isLeft = (await sessions.list()).some((each) => readers.ofSession(each.key).chat === chat);
    if (!isLeft) await chatMemory.forget(chat);
  };
  return events.on("session_state_changed", ({ session_key: key, payload: { to } }) => {
    if (to !== "deleted") return;
    forget(key).catch((error: unknown) => log.warn(`The memory of ${key} was not deleted: ${messageOf(error)}`));
  });
}

/** What happens to conversations in the background: titles, and a summary of each day. */
export function startMemory(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): void {
  const { log } = options;
  const { agents, memory } = options.config.config;
  releases.defer(forgetWithChats(core, assistant, log));
  if (options.work === false) return;
  const chooseModel = assistant.models.choose;
  const budget = assistant.budgets.background;
  if (memory.titles === "model") {
    const { events: bus, engine, sessions } = core;
    releases.use(startTitles({ bus, engine, sessions, chooseModel, budget, log }));
  }
  if (memory.dailySummary === "off") return;
  const records = core.engine.records("daily_summary");
  const stopping = new AbortController();
  const running = runDailySummaries(
    {
      file: { root: agents.defaults.workspace, name: "memory/HISTORY.md" },
      read: (from, until) => readDay(core, assistant.readers, from, until),
      async summarise(day, text, signal) {
        if (memory.dailySummary !== "model") return undefined;
        const chosen = await chooseModel(undefined, signal);
        if (!canWrite(chosen) || !budget.mayAsk()) return undefined;
        const question = { system: summarySystem, text: `${day}\n\n${text}`, maxTokens: summaryMaxTokens };
        const { text: summary, use } = await askModel(chosen, question, signal);
        const told = draft(
          "settings_changed",
          { scope: "gateway", key: "daily_summary", to: day },
          { source: "gateway" },
        );
        await core.engine.append(gatewayKey, [told], { durable: false, counts: budget.countsOf(use) });
        return summary || undefined;
      },
      lastDay: {
        get() {
          const day = records.get("last");
          return typeof day === "string" ? day : undefined;
        },
        set: (day) => records.put("last", day),
      },
      now: () => new Date(options.now?.() ?? Date.now()),
      log,
    },
    stopping.signal,
  );
  releases.defer(async () => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
  });
}

async function sessionSources({ sessions }: Core): Promise<readonly Source[]> {
  const newest = (await sessions.list()).slice(0, maxSessions);
  return newest.map(({ key, messageCount, lastMessageAt }) => ({
    id: key,
    stamp: `${messageCount} ${lastMessageAt ?? ""}`,
    read: async () => (await sessions.peek(key))?.flatMap(toPassage),
  }));
}

function toPassage({ role, content, timestamp }: DocumentMessage): Passage[] {
  if (role !== "user" && role !== "assistant") return [];
  const at = Date.parse(timestamp);
  return [{ from: role, text: content, ...(Number.isNaN(at) ? {} : { at }) }];
}

/** `memory/*.md`, paragraph by paragraph. */
async function fileSources(workspace: string): Promise<readonly Source[]> {
  const names = (await readdir(join(workspace, "memory")).catch(() => [])).filter((name) => name.endsWith(".md"));
  const files = names.map((name) => `memory/${name}`);
  return (await Promise.all(files.map((name) => fileSource(name, { root: workspace, name })))).flat();
}

/** The notes of those chats that have some. */
async function chatSources(chats: ReadonlySet<string>, fileOf: (chat: string) => OwnFile): Promise<readonly Source[]> {
  const files = [...chats].map((chat) => ({ chat, file: fileOf(chat) }));
  const roots = new Set(files.map(({ file }) => file.root));
  const kept = await Promise.all([...roots].map((root) => readdir(root).catch(() => [])));
  const present = new Set(kept.flat());
  const likely = files.filter(({ file }) => present.has(basename(dirname(dirname(file.name)))));
  return (await Promise.all(likely.map(({ chat, file }) => fileSource(`${notesOf}${chat}`, file)))).flat();
}

async function fileSource(id: string, file: OwnFile): Promise<readonly Source[]> {
  const found = await lstat(join(file.root, file.name)).catch(() => undefined);
  if (found === undefined || !found.isFile()) return [];
  return [{ id, stamp: `${found.mtimeMs} ${found.size}`, read: () => readParagraphs(file) }];
}

async function readParagraphs(file: OwnFile): Promise<readonly Passage[] | undefined> {
  const text = await readOwnFile(file).catch(() => undefined);
  return text?.split(/\n\s*\n|\n(?=#)/).map((paragraph) => ({ from: "note", text: paragraph.trim() }));
}

/** What owners said in private. What others have said, or have read, shall not speak to the owner's later turns. */
async function readDay(core: Core, readers: Readership, from: number, until: number): Promise<readonly DayOfSession[]> {
  const isOwners = (key: string): boolean => readers.ofSession(key).audience === "owner";
  const days: DayOfSession[] = [];
  for (const { key, title, lastMessageAt } of await core.sessions.list()) {
    // Newest first: nothing older has messages of that day.
    if (lastMessageAt === undefined || Date.parse(lastMessageAt) < from) break;
    if (!isOwners(key)) continue;
    const messages = ((await core.sessions.peek(key)) ?? []).flatMap(({ role, content, timestamp }) => {
      const at = Date.parse(timestamp);
      return (role === "user" || role === "assistant") && at >= from && at < until ? [{ role, content }] : [];
    });
    const isCopy = /^webui:fork-/.test(key) && messages.length > 0;
    if (isCopy && ![...(await core.sessions.open(key)).document.origins].every(isOwners)) continue;
    days.push({ key, messages, ...(title === undefined ? {} : { title }) });
  }
  return days.reverse();
}
