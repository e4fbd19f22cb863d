import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { askModel, canWrite } from "../agent/ask-model.js";
import { startTitles } from "../agent/titles.js";
import { draft } from "../events/event.js";
import { channelOf, clientChannels } from "../events/session-key.js";
import { type DayOfSession, runDailySummaries } from "../memory/daily-summary.js";
import { createNotes } from "../memory/notes.js";
import { paragraphsOf } from "../memory/paragraphs.js";
import { createMemorySearch, type Passage, type Source } from "../memory/search.js";
import type { DocumentMessage } from "../sessions/session.js";
import { memorySearchTool } from "../tools/memory/memory-search.js";
import { memoryWriteTool } from "../tools/memory/memory-write.js";
import type { Tool } from "../tools/tool.js";
import type { Releases } from "../util/releases.js";
import type { Assistant } from "./assistant.js";
import { type Core, gatewayKey } from "./core.js";
import type { Provenance } from "./labels.js";
import type { GatewayOptions } from "./options.js";

/** The newest conversations are searched, so that the index stays within some tens of megabytes. */
const maxSessions = 2000;
const summaryMaxTokens = 1500;
const summarySystem =
  "Summarise this day's conversations for the assistant's own long-term memory: what people wanted, what was decided or done, what is open, and lasting facts about them. Short Markdown bullets, in the language of the conversations. Leave out small talk and secrets.";

/** The tools that remember. */
export function memoryTools(options: GatewayOptions, core: Core): readonly Tool[] {
  const { agents, owners } = options.config.config;
  const { workspace } = agents.defaults;
  const search = createMemorySearch(async () => [
    ...(await sessionSources(core)),
    ...(await fileSources(workspace, core)),
  ]);
  const isOwners = (id: string): boolean =>
    id.startsWith("memory/") ||
    clientChannels.has(channelOf(id)) ||
    owners.some((owner) => id === owner || id.startsWith(`${owner}:`));
  return [memorySearchTool(search, isOwners), memoryWriteTool(createNotes(join(workspace, "memory/MEMORY.md")))];
}

/** What happens to conversations in the background: titles, and a summary of each day. */
export function startMemory(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): void {
  const { log } = options;
  const { agents, memory } = options.config.config;
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
      path: join(agents.defaults.workspace, "memory/HISTORY.md"),
      read: (from, until) => readDay(core, from, until),
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
      markForeign: (paragraphs) => core.provenance.texts.mark(paragraphs),
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

function toPassage({ role, content, timestamp, outside, forGuest }: DocumentMessage): Passage[] {
  if (role !== "user" && role !== "assistant") return [];
  const at = Date.parse(timestamp);
  return [{ from: role, text: content, outside, forGuest, ...(Number.isNaN(at) ? {} : { at }) }];
}

/** `memory/*.md`, paragraph by paragraph. */
async function fileSources(workspace: string, { provenance }: Core): Promise<readonly Source[]> {
  const folder = join(workspace, "memory");
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".md"));
  const sources = await Promise.all(
    names.map(async (name): Promise<Source[]> => {
      const id = `memory/${name}`;
      const found = await stat(join(folder, name)).catch(() => undefined);
      if (found === undefined || !found.isFile()) return [];
      return [
        { id, stamp: `${found.mtimeMs} ${found.size}`, read: () => readParagraphs(join(folder, name), provenance) },
      ];
    }),
  );
  return sources.flat();
}

async function readParagraphs(path: string, { files, texts }: Provenance): Promise<readonly Passage[] | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const ofFile = await files.outsideOf(await realpath(path), undefined);
  return await Promise.all(
    paragraphsOf(text).map(async (paragraph): Promise<Passage> => {
      const isForeign = await texts.isForeign(paragraph);
      return { from: "note", text: paragraph, outside: ofFile ?? (isForeign ? "an earlier conversation" : undefined) };
    }),
  );
}

async function readDay(core: Core, from: number, until: number): Promise<readonly DayOfSession[]> {
  const days: DayOfSession[] = [];
  for (const { key, title, lastMessageAt } of await core.sessions.list()) {
    // Newest first: nothing older has messages of that day.
    if (lastMessageAt === undefined || Date.parse(lastMessageAt) < from) break;
    const said = (await core.sessions.peek(key)) ?? [];
    const messages = said.flatMap(({ role, content, timestamp }) => {
      const at = Date.parse(timestamp);
      return (role === "user" || role === "assistant") && at >= from && at < until ? [{ role, content }] : [];
    });
    const isForeign = said.some(({ outside, forGuest }) => outside !== undefined || forGuest === true);
    days.push({ key, messages, isForeign, ...(title === undefined ? {} : { title }) });
  }
  return days.reverse();
}
