import { jobOwnerOf } from "../api/cron-operations.js";
import type { GatewayApi } from "../api/gateway-api.js";
import { findExceeded } from "../budgets/limits.js";
import type { InboundMessage } from "../bus/messages.js";
import { messageOf } from "../errors.js";
import type { GatewayEvent } from "../events/event.js";
import { clientChannels } from "../events/session-key.js";
import { heartbeatPrompt, nothingToSay, runHeartbeat } from "../schedule/heartbeat.js";
import { heartbeatJob } from "../schedule/heartbeat-job.js";
import { type JobOwner, jobOwner } from "../schedule/job.js";
import { createRunHistory } from "../schedule/run-history.js";
import { workspaceTemplates } from "../templates/workspace.js";
import type { Releases } from "../util/async/releases.js";
import { newId } from "../util/ids.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";
import { endOfRun, type RunEnd, tellRun } from "./run-end.js";

const prefix = "heartbeat:";
const nobody: JobOwner = { channel: "webui", chatId: "heartbeat", senderId: "owner", sessionKey: "webui:heartbeat" };
/** So many beats that fail one after the other are told once. */
const maxFailures = 5;
/** Conversations of beats are kept for so long. */
const keptMs = 30 * 24 * 3600 * 1000;

/** Lets the assistant look through memory/heartbeat.md again and again, as the config says. */
export function startHeartbeat(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  api: Pick<GatewayApi, "deleteSession">,
  releases: Releases,
): void {
  const { log, now = Date.now } = options;
  const { heartbeat, owners } = options.config.config;
  const { calendar } = assistant.budgets;
  const records = core.engine.records("heartbeat");
  const history = createRunHistory(core.engine.records("cron_runs"));
  const sessionAt = (due: number): string => `cron:${heartbeatJob}-${calendar.dayOf(due)}`;
  core.lives.onLeave("heartbeat", (key) =>
    history.forgetResults(heartbeatJob, ({ dueAt }) => sessionAt(Date.parse(dueAt)) === key),
  );
  const stopping = new AbortController();
  const followed = new Set<Promise<unknown>>();
  let cleared = "";
  const tell = (dueAt: string, status: "started" | "completed" | "failed", error?: string): void => {
    const change = { jobId: heartbeatJob, dueAt, status, ...(error === undefined ? {} : { error }) };
    tellRun(core, sessionAt(Date.parse(dueAt)), change).catch((cause: unknown) =>
      log.warn(`A heartbeat was not told: ${messageOf(cause)}`),
    );
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
    const messageId = `${prefix}${dueAt}`;
    const beat: InboundMessage = {
      id: messageId,
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
    };
    await core.lives.runOrAgain(beat.sessionKey, () => core.messages.publishInbound(beat));
    if (await history.begin(heartbeatJob, { messageId, dueAt, startedAt, status: "running" })) {
      tell(dueAt, "started");
      follow(messageId, dueAt);
    }
    if (cleared !== calendar.dayOf(due)) {
      cleared = calendar.dayOf(due);
      await clear(sessionAt(due - keptMs));
    }
  };

  /** Deletes the conversations of the days before this one's. */
  const clear = async (oldest: string): Promise<void> => {
    const known = await core.sessions.list();
    for (const { key } of known) if (key < oldest && /^cron:heartbeat-[\d-]+$/.test(key)) await api.deleteSession(key);
  };

  /** Keeps how a beat ends, once it does. */
  const follow = (messageId: string, dueAt: string): void => {
    const following = endOfRun(core, sessionAt(Date.parse(dueAt)), messageId, stopping.signal)
      .then((end) => end && ended(messageId, end))
      .catch((error: unknown) => log.warn(`The end of a heartbeat was not kept: ${messageOf(error)}`))
      .finally(() => followed.delete(following));
    followed.add(following);
  };

  const ended = async (messageId: string, { status, result, outside }: RunEnd): Promise<void> => {
    const endedAt = new Date(now()).toISOString();
    const run = await history.end(heartbeatJob, messageId, { status, result, outside, endedAt });
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
  };
  const unsubscribe = core.events.onAny((event) => {
    onEvent(event).catch((error: unknown) => log.warn(`The heartbeat did not keep what it saw: ${messageOf(error)}`));
  });

  for (const { messageId, dueAt, status } of history.of(heartbeatJob))
    if (status === "running") follow(messageId, dueAt);
  const running = runHeartbeat(
    {
      everyMs: heartbeat.everyMinutes * 60_000,
      activeHours: heartbeat.activeHours,
      timeZone: calendar.timeZone,
      // Where others read along the list is not shown, and there is nothing to look through.
      tasks: async () =>
        assistant.readers.ofSession(sessionAt(now())).audience === "owner"
          ? withoutTemplate((await assistant.contextFiles.load()).heartbeat)
          : undefined,
      isBusy() {
        const used = assistant.budgets.measure({ sender: undefined, job: heartbeatJob }, undefined);
        const isUsedUp = findExceeded(used, { tokens: 0, usd: 0, turns: 1 }) !== undefined;
        const [last] = history.of(heartbeatJob);
        const isAtWork =
          last !== undefined && core.engine.waiting("inbound", sessionAt(Date.parse(last.dueAt))).length > 0;
        return isUsedUp || isAtWork;
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
    await Promise.all(followed);
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
