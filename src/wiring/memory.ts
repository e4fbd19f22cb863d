import { askModel, canWrite } from "../agent/model/ask.js";
import { startTitles } from "../agent/model/titles.js";
import { draft } from "../events/event.js";
import { depthOf, isBelow } from "../events/session-key.js";
import { type DayOfSession, runDailySummaries } from "../memory/daily-summary.js";
import type { Releases } from "../util/async/releases.js";
import type { Assistant } from "./assistant.js";
import { type Core, gatewayKey } from "./core.js";
import type { GatewayOptions } from "./options.js";
import type { Readership } from "./readers.js";

const summaryMaxTokens = 1500;
const summarySystem =
  "Summarise this day's conversations for the assistant's own long-term memory: what people wanted, what was decided or done, what is open, and lasting facts about them. Short Markdown bullets, in the language of the conversations. Leave out small talk and secrets.";

/** The memory of a chat goes with the last of its conversations. */
function forgetWithChats({ lives, sessions }: Core, { readers, chatMemory }: Assistant): void {
  lives.onLeave("memory", async (key) => {
    const { audience, chat } = readers.ofSession(key);
    if (audience === "owner" || depthOf(key) > 0) return;
    const others = (await sessions.list()).filter((each) => each.key !== key && !isBelow(each.key, key));
    if (!others.some((each) => readers.ofSession(each.key).chat === chat)) await chatMemory.forget(chat);
  });
}

/** What happens to conversations in the background: titles, and a summary of each day. */
export function startMemory(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): void {
  const { log } = options;
  const { agents, memory } = options.config.config;
  forgetWithChats(core, assistant);
  if (options.work === false) return;
  const chooseModel = assistant.models.choose;
  const budget = assistant.budgets.background;
  if (memory.titles === "model") {
    const { events: bus, engine, sessions, lives } = core;
    releases.use(startTitles({ bus, engine, sessions, lives, chooseModel, budget, log }));
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
      markForeign: core.provenance.markForeign,
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

/** What owners said in private. What others have said, or have read, shall not speak to the owner's later turns. */
export async function readDay(
  core: Pick<Core, "sessions">,
  readers: Pick<Readership, "ofSession">,
  from: number,
  until: number,
): Promise<readonly DayOfSession[]> {
  const isOwners = (key: string): boolean => readers.ofSession(key).audience === "owner";
  const days: DayOfSession[] = [];
  for (const { key, title, lastMessageAt } of await core.sessions.list()) {
    // Newest first: nothing older has messages of that day.
    if (lastMessageAt === undefined || Date.parse(lastMessageAt) < from) break;
    if (!isOwners(key)) continue;
    const said = (await core.sessions.peek(key)) ?? [];
    const messages = said.flatMap(({ role, content, timestamp }) => {
      const at = Date.parse(timestamp);
      return (role === "user" || role === "assistant") && at >= from && at < until ? [{ role, content }] : [];
    });
    const isCopy = /^webui:fork-/.test(key) && messages.length > 0;
    if (isCopy && ![...(await core.sessions.open(key)).document.origins].every(isOwners)) continue;
    const isForeign = said.some(({ outside, forGuest }) => outside !== undefined || forGuest === true);
    days.push({ key, messages, isForeign, ...(title === undefined ? {} : { title }) });
  }
  return days.reverse();
}
