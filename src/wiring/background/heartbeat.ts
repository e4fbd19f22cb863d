import { findExceeded } from "../../budgets/limits.js";
import type { Config } from "../../config/schema.js";
import { messageOf } from "../../errors.js";
import { HeartbeatChat } from "../../schedule/heartbeat/chat.js";
import { HeartbeatConversations } from "../../schedule/heartbeat/conversations.js";
import { runHeartbeat, withoutLinesOf } from "../../schedule/heartbeat/heartbeat.js";
import { heartbeatJob } from "../../schedule/heartbeat/job.js";
import { HeartbeatRuns } from "../../schedule/heartbeat/runs.js";
import { createRunHistory } from "../../schedule/run-history.js";
import type { RunReports } from "../../schedule/run-reports.js";
import { templatesOf } from "../../templates/workspace.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";

export interface HeartbeatPorts {
  readonly reports: RunReports;
  deleteSession(key: string): Promise<void>;
}

/** Lets the assistant look through memory/heartbeat.md again and again, as `heartbeat` says. */
export async function startHeartbeat(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { reports, deleteSession }: HeartbeatPorts,
  heartbeat: Config["heartbeat"],
  releases: Releases,
): Promise<void> {
  const { log, now = Date.now } = options;
  const { people, readers, mind } = assistant;
  const { contextFiles, budgets } = mind;
  const records = await core.engine.records.open("heartbeat");
  const chat = new HeartbeatChat({
    chat: heartbeat.chat,
    owners: people.owners,
    isOwner: people.isOwner,
    records,
    sessions: core.sessions,
  });
  const conversations = new HeartbeatConversations((at) => budgets.calendar.dayOf(at), {
    keys: (isWanted) => core.sessions.keys(isWanted),
    delete: deleteSession,
  });
  const history = createRunHistory(await core.engine.records.open("cron_runs"));
  const { messages, lives } = core;
  const runs = new HeartbeatRuns({ chat, conversations, history, reports, messages, lives, now, log });
  lives.onLeave("heartbeat", (key) =>
    history.forgetResults(heartbeatJob, ({ dueAt }) => conversations.keyAt(Date.parse(dueAt)) === key),
  );
  const unsubscribe = core.ownEvents.on("user_message_queued", (event) => {
    chat.note(event).catch((error: unknown) => {
      log.warn(`The heartbeat did not keep what it saw: ${messageOf(error)}`);
    });
  });
  const stopping = new AbortController();
  const ports: Parameters<typeof runHeartbeat>[0] = {
    everyMs: heartbeat.everyMinutes * 60_000,
    activeHours: heartbeat.activeHours,
    get timeZone() {
      return budgets.calendar.timeZone;
    },
    // Where others read along the list is not shown, and there is nothing to look through.
    tasks: async () =>
      readers.ofSession(conversations.keyAt(now())).audience === "owner"
        ? withoutLinesOf(templatesOf("memory/heartbeat.md").join("\n"), (await contextFiles.load()).heartbeat)
        : undefined,
    isBusy: async () =>
      isUsedUp(mind) ||
      (runs.last !== undefined &&
        (await core.engine.waiting("inbound", conversations.keyAt(Date.parse(runs.last.dueAt)))).length > 0),
    accept: (due) => runs.begin(due),
    lastDue: {
      get() {
        const due = records.get("due");
        return typeof due === "number" ? due : undefined;
      },
      set: (due) => records.put("due", due),
    },
    now,
    log,
  };
  const running = core.process.alone("heartbeat", (signal) => runHeartbeat(ports, signal), stopping.signal);
  releases.defer(async () => {
    unsubscribe();
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
    await runs[Symbol.asyncDispose]();
  });
}

function isUsedUp({ budgets }: Assistant["mind"]): boolean {
  const used = budgets.measure({ sender: undefined, job: heartbeatJob }, undefined);
  return findExceeded(used, { tokens: 0, usd: 0, turns: 1 }) !== undefined;
}
