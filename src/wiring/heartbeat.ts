import { jobOwnerOf } from "../api/cron-operations.js";
import { findExceeded } from "../budgets/limits.js";
import { messageOf } from "../errors.js";
import { draft, type GatewayEvent } from "../events/event.js";
import { clientChannels } from "../events/session-key.js";
import { heartbeatPrompt, nothingToSay, runHeartbeat } from "../schedule/heartbeat.js";
import { heartbeatJob } from "../schedule/heartbeat-job.js";
import { type JobOwner, jobOwner } from "../schedule/job.js";
import { createRunHistory } from "../schedule/run-history.js";
import { workspaceTemplates } from "../templates/workspace.js";
import { newId } from "../util/ids.js";
import type { Releases } from "../util/releases.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";
import { endOf } from "./schedule.js";

const prefix = "heartbeat:";
const nobody: JobOwner = { channel: "webui", chatId: "heartbeat", senderId: "owner", sessionKey: "webui:heartbeat" };
/** So many beats that fail one after the other are told once. */
const maxFailures = 5;

/** Lets the assistant look through memory/heartbeat.md again and again, as the config says. */
export function startHeartbeat(options: GatewayOptions, core: Core, assistant: Assistant, releases: Releases): void {
  const { log, now = Date.now } = options;
  const { heartbeat, owners } = options.config.config;
  const { calendar } = assistant.budgets;
  const records = core.engine.records("heartbeat");
  const history = createRunHistory(core.engine.records("cron_runs"));
  const sessionAt = (due: number): string => `cron:${heartbeatJob}-${calendar.dayOf(due)}`;
  const tell = (due: string, status: "started" | "completed" | "failed", error?: string): void => {
    const key = sessionAt(Date.parse(due));
    const payload = {
      job_id: heartbeatJob,
      due_at: due,
      status,
      session_key: key,
      ...(error === undefined ? {} : { error }),
    };
    void core.engine
      .append(key, [draft("schedule_run_changed", payload, { source: "gateway" })], { durable: false })
      .catch((cause: unknown) => log.warn(`A heartbeat was not told: ${messageOf(cause)}`));
  };

  const place = async (): Promise<JobOwner> => {
    if (heartbeat.chat !== undefined) return jobOwnerOf(heartbeat.chat, owners);
    const last = jobOwner.safeParse(records.get("chat"));
    if (last.success) return last.data;
    // Nobody has written since it is on: an owner's own chat is called after them on most platforms.
    const known = await core.sessions.list();
    const own = known.find(({ key }) => owners.includes(key));
    return own === undefined ? nobody : jobOwnerOf(own.key, owners);
  };

  const accept = async (due: number): Promise<void> => {
    const { channel, chatId, thread, senderId } = await place();
    const dueAt = new Date(due).toISOString();
    const startedAt = new Date(now()).toISOString();
    // Before it is accepted, because a beat that is refused at once ends at once.
    await history.begin(heartbeatJob, { messageId: `${prefix}${dueAt}`, dueAt, startedAt, status: "running" });
    const { status } = await core.messages.publishInbound({
      id: `${prefix}${dueAt}`,
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      senderId,
      sessionKey: sessionAt(due),
      content: heartbeatPrompt,
      attachments: [],
      mode: "next",
      internal: true,
      jobId: heartbeatJob,
      silence: { failures: true, word: nothingToSay },
      receivedAt: now(),
    });
    if (status === "accepted") tell(dueAt, "started");
  };

  const ended = async (messageId: string, status: "completed" | "failed", result: string): Promise<void> => {
    const run = await history.end(heartbeatJob, messageId, { status, result, endedAt: new Date(now()).toISOString() });
    if (run === undefined) return;
    tell(run.dueAt, status, status === "failed" ? result : undefined);
    const runs = history.of(heartbeatJob);
    const since = runs.findIndex((one) => one.status !== "failed");
    if ((since === -1 ? runs.length : since) !== maxFailures) return;
    log.warn(`The heartbeat failed ${maxFailures} times in a row: ${result}`);
    const { channel, chatId, thread } = await place();
    if (clientChannels.has(channel)) return;
    await core.messages.publishOutbound({
      id: `${newId("alert")}#1`,
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      sessionKey: sessionAt(now()),
      content: `The heartbeat failed ${maxFailures} times in a row. It goes on trying; maxclaw status may say why.`,
      attachments: [],
    });
  };

  const onEvent = async (event: GatewayEvent): Promise<void> => {
    const chat = ownersChat(event, assistant.isOwner);
    if (chat !== undefined && JSON.stringify(records.get("chat")) !== JSON.stringify(chat))
      await records.put("chat", chat);
    const end = endOf(event);
    for (const id of end?.messageIds ?? [])
      if (end !== undefined && id.startsWith(prefix)) await ended(id, end.status, end.result);
  };
  const unsubscribe = core.events.onAny((event) => {
    onEvent(event).catch((error: unknown) => log.warn(`The heartbeat did not keep what it saw: ${messageOf(error)}`));
  });

  const stopping = new AbortController();
  const running = runHeartbeat(
    {
      everyMs: heartbeat.everyMinutes * 60_000,
      activeHours: heartbeat.activeHours,
      timeZone: calendar.timeZone,
      tasks: async () => withoutTemplate((await assistant.contextFiles.load()).heartbeat),
      isBusy() {
        const used = assistant.budgets.measure({ sender: undefined, job: heartbeatJob }, undefined);
        const isUsedUp = findExceeded(used, { tokens: 0, usd: 0, turns: 1 }) !== undefined;
        return isUsedUp || assistant.running.has(sessionAt(now()));
      },
      accept,
      lastDue: {
        get() {
          const due = records.get("due");
          return typeof due === "number" ? due : undefined;
        },
        set: (due) => records.put("due", due),
      },
      now,
      log,
    },
    stopping.signal,
  );
  releases.defer(async () => {
    unsubscribe();
    stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
    await running;
  });
}

/** The direct chat that an owner writes in, by one of their messages. What the gateway itself sends there is none. */
function ownersChat(event: GatewayEvent, isOwner: Assistant["isOwner"]): JobOwner | undefined {
  if (event.type !== "user_message_queued") return undefined;
  const { channel, chat_id: chatId, sender_id: senderId, thread, message_id: id } = event.payload;
  const isByPerson = !id.startsWith("cron:") && !id.startsWith(prefix);
  if (!isByPerson || clientChannels.has(channel) || chatId !== senderId || !isOwner(channel, senderId))
    return undefined;
  return { channel, chatId, senderId, sessionKey: event.session_key, ...(thread === undefined ? {} : { thread }) };
}

/** What a new workspace's file says of itself is nothing to do. */
function withoutTemplate(text: string | undefined): string | undefined {
  const own = new Set((workspaceTemplates["memory/heartbeat.md"] ?? "").split("\n").map((line) => line.trim()));
  return text
    ?.split("\n")
    .filter((line) => !own.has(line.trim()))
    .join("\n");
}
