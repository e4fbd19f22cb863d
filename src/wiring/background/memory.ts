import { summariseDay } from "../../agent/model/day-summary.js";
import { startTitles } from "../../agent/model/titles.js";
import type { Config } from "../../config/schema.js";
import { draft } from "../../events/event.js";
import { runDailySummaries } from "../../memory/daily-summary.js";
import { forgetWithChats } from "../../memory/forget-chats.js";
import { readOwnersDay } from "../../memory/owners-day.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import { type Core, gatewayKey } from "../core/core.js";
import { followPart } from "../live/live.js";
import { type GatewayOptions, isWorking } from "../options.js";

/** What happens to conversations in the background: titles, and a summary of each day. */
export async function startMemory(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  releases: Releases,
): Promise<void> {
  const { readers, mind, live } = assistant;
  forgetWithChats({
    lives: core.lives,
    sessions: core.sessions,
    whoseOf: readers.ofSession,
    chatMemory: mind.chatMemory,
  });
  if (!isWorking(options)) return;
  await followPart(options, live, ["memory"], releases, async ({ memory }, parts) => {
    if (memory.titles === "model") parts.use(openTitles(options, core, assistant));
    if (memory.dailySummary !== "off") await startDailySummaries(options, core, assistant, memory, parts);
  });
}

function openTitles({ log }: GatewayOptions, core: Core, { mind: { models, budgets } }: Assistant): AsyncDisposable {
  const { ownEvents: events, engine, sessions, lives } = core;
  const { background: budget } = budgets;
  return startTitles({ bus: events, engine, sessions, lives, chooseModel: models.choose, budget, log });
}

async function startDailySummaries(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  memory: Config["memory"],
  releases: Releases,
): Promise<void> {
  const { agents } = options.config.config;
  const { readers } = assistant;
  const { models, budgets } = assistant.mind;
  const records = await core.engine.records.open("daily_summary");
  const stopping = new AbortController();
  const summaryPorts = {
    chooseModel: models.choose,
    budget: budgets.background,
    async record(day: string, counts: ReturnType<typeof budgets.background.countsOf>) {
      const settings = { scope: "gateway", key: "daily_summary", to: day } as const;
      const event = draft("settings_changed", settings, { source: "gateway" });
      await core.engine.append(gatewayKey, [event], { durable: false, counts });
    },
  };
  const ports: Parameters<typeof runDailySummaries>[0] = {
    file: { root: agents.defaults.workspace, name: "memory/HISTORY.md" },
    read: (from, until) => readOwnersDay(core.sessions, readers.ofSession, from, until),
    summarise: async (day, text, signal) =>
      memory.dailySummary === "model" ? await summariseDay(summaryPorts, day, text, signal) : undefined,
    lastDay: {
      get() {
        const day = records.get("last");
        return typeof day === "string" ? day : undefined;
      },
      set: (day) => records.put("last", day),
    },
    markForeign: core.folders.provenance.markForeign,
    now: () => new Date(options.now?.() ?? Date.now()),
    log: options.log,
  };
  const running = core.process.alone("daily-summary", (signal) => runDailySummaries(ports, signal), stopping.signal);
  releases.defer(async () => {
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
  });
}
