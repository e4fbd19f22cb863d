import { createAgent } from "../agent/agent.js";
import { createCompaction } from "../agent/model/compaction.js";
import { createClock } from "../agent/model/context.js";
import type { AgentPorts, PlannedUse } from "../agent/ports.js";
import { choicesFor } from "../agent/questions/text.js";
import type { RunningTurns } from "../agent/turn/running-turns.js";
import { deliverOutbound } from "../bus/delivery.js";
import { isGroup, questionRepliesOf, repliesOf } from "../bus/replies.js";
import type { Channel } from "../channels/channel.js";
import { superviseChannel } from "../channels/supervisor.js";
import type { Handler } from "../engine/engine.js";
import { draft } from "../events/event.js";
import { channelOf, rootKeyOf, sessionKeyOf } from "../events/session-key.js";
import type { SessionLives } from "../events/session-lives.js";
import type { Logger } from "../log.js";
import { isOpenCommand, type ToolUse } from "../policy/access.js";
import { filesOfCommand } from "../policy/commands/command-files.js";
import { isOfGuest } from "../sessions/history/history-entries.js";
import { holdsText } from "../sessions/history/same-text.js";
import { builtinTools } from "../tools/builtin.js";
import { createToolRegistry, type ToolSource } from "../tools/registry.js";
import type { Tool } from "../tools/tool.js";
import { sleep } from "../util/async/sleep.js";
import type { Assistant } from "./assistant.js";
import { createChatContext } from "./chat-context.js";
import type { Core } from "./core.js";
import { memoryTools } from "./memory-tools.js";
import type { GatewayOptions } from "./options.js";
import type { Status } from "./status.js";

type ChatCommands = Pick<AgentPorts, "mayCommand" | "operate">;

const turnsParallel = 64;
/** The newest conversations of jobs and heartbeats are looked through for what a message quotes. */
const maxJobSessions = 50;
const maxAttempts = 3;
const stuckMs = 1000;
/** A send that is cut may be said twice: one that is under way gets this long, however little grace is left. */
const leastSendMs = 1000;

/** What the assistant works with, beside what it always has. */
export interface Hands {
  readonly tools: readonly Tool[];
  readonly source: ToolSource | undefined;
  readonly commands: ChatCommands;
  readonly artifacts: AgentPorts["artifacts"];
  readonly tasks: AgentPorts["tasks"];
}

/** Sets everything that works through the queues in motion. */
export function startLanes(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  status: Status,
  hands: Hands,
): { drain(graceMs: number): Promise<void> } {
  const { log } = options;
  const { channels, intake, running } = assistant;
  const { engine, messages, lives } = core;
  const receiving = new AbortController();
  const working = new AbortController();
  const sending = new AbortController();

  const agent = createAgent(agentPorts(options, core, assistant, status, hands), {
    maxIterations: options.config.config.agents.defaults.maxToolIterations,
    maxModelAttempts: 3,
    retryDelayMs: options.modelRetryMs ?? 1000,
    titles: options.config.config.memory.titles !== "off",
    quiet: {
      ms: options.config.config.agents.defaults.quietMs,
      after: options.config.config.agents.defaults.quietAfter,
    },
    clock: createClock(assistant.budgets.calendar.timeZone),
    ...options.config.config.events,
    machines: options.machines,
  });
  if (options.work === false) working.abort();
  if (options.work === false || options.channels === false) sending.abort();
  let graceEnd = 0;
  const graceMs = (): number => Math.max(graceEnd - Date.now(), leastSendMs);
  const replies = startPart(log, "replies", !sending.signal.aborted, () =>
    deliverOutbound(
      { engine, channels, previews: assistant.previews, lives, log, graceMs, retryDelayMs: options.sendRetryMs },
      sending.signal,
    ),
  );
  const turns = startPart(log, "turns", !working.signal.aborted, () =>
    messages.consumeInbound({ parallel: turnsParallel, maxAttempts }, inLife(agent, lives, running), working.signal),
  );
  const receive = (channel: Channel): Promise<void> => {
    const { name } = channel;
    status.channels.set(name, { name, state: "connecting" });
    return superviseChannel(
      channel,
      (received) => intake.receive(name, received, receiving.signal),
      {
        log,
        onState(to, { attempt, delayMs, reason }) {
          const before = status.channels.get(name);
          const from = before?.state ?? "connecting";
          const lastSeenAt = to === "connected" ? new Date().toISOString() : before?.lastSeenAt;
          status.channels.set(name, {
            name,
            state: to,
            ...(reason === undefined ? {} : { reason }),
            ...(lastSeenAt === undefined ? {} : { lastSeenAt }),
          });
          if (from === "off" || from === to) return;
          const payload = { peer: "channel" as const, name, from, to, attempt, delay_ms: delayMs, reason };
          core.tell(draft("connection_state_changed", payload, { source: `channel:${name}` }));
        },
      },
      receiving.signal,
    );
  };
  const connections = [...(options.channels === false ? [] : channels.values())].map((channel) =>
    startPart(log, `channel ${channel.name}`, true, () => receive(channel)),
  );

  const drain = async (totalMs: number): Promise<void> => {
    status.enter("draining");
    const why = new DOMException("The gateway is stopping", "AbortError");
    graceEnd = Date.now() + totalMs;
    messages.close();
    receiving.abort(why);
    working.abort(why);
    const cut = setTimeout(() => running.shutDown(), totalMs);
    for (const connection of connections.toReversed()) await connection.stopped();
    await turns.stopped();
    clearTimeout(cut);
    if (!sending.signal.aborted) await outboxAtRest(() => engine.status().outboundWaiting, graceEnd);
    sending.abort(why);
    await replies.stopped();
    await assistant.previews.close(graceMs());
    status.enter("stopped");
  };
  let drained: Promise<void> | undefined;
  return {
    drain(graceMs) {
      drained ??= drain(graceMs);
      return drained;
    },
  };
}

/** No turn begins while its session is being deleted; afterwards its delivery is fenced. */
function inLife(handler: Handler<"inbound">, lives: SessionLives, running: RunningTurns): Handler<"inbound"> {
  return async (delivery, signal) => {
    const { sessionKey } = delivery.work;
    await lives.free(sessionKey);
    if (signal.aborted) return;
    await lives.run(sessionKey, async (life) => {
      // Its last commit tells everyone who waits for the turn.
      life.addEventListener("abort", () => running.stop(sessionKey, "stop"), { once: true });
      await handler(delivery, signal);
    });
  };
}

/** A part that runs until it is told to stop. The log names it as it starts, and when it has stopped. */
interface Part {
  stopped(): Promise<void>;
}

/** One that is not `used` ends at once and is not named. What it rejects with before it is stopped ends the process. */
function startPart(log: Logger, name: string, used: boolean, run: () => Promise<void>): Part {
  const done = run();
  if (used) log.debug(`started: ${name}`);
  return {
    async stopped() {
      await Promise.allSettled([done]);
      if (used) log.debug(`stopped: ${name}`);
    },
  };
}

/** Resolves once nothing is left to send, or nothing moves any more: a chat that cannot be reached holds up no stop. */
async function outboxAtRest(waiting: () => number, graceEnd: number): Promise<void> {
  let least = waiting();
  let movedAt = Date.now();
  const never = new AbortController().signal;
  while (least > 0 && Date.now() < graceEnd && Date.now() - movedAt < stuckMs) {
    await sleep(20, never);
    const now = waiting();
    if (now < least) movedAt = Date.now();
    least = Math.min(least, now);
  }
}

/** The same for every route: whose message it is decides, whatever carried it. */
function toToolUse(use: PlannedUse, { isOwner, readers }: Assistant): ToolUse {
  const { tool, access, folder, earlier, files, isPlanning, message } = use;
  const { channel, senderId, chatId, thread } = message;
  const chat = sessionKeyOf(channel, chatId, thread);
  const role = isOwner(channel, senderId) ? "owner" : "guest";
  const chatType = isGroup(message) ? "group" : "dm";
  const { audience } = readers.of(message);
  // A chat's own memory is for what its people say there.
  const isOfChat = access.kind === "memory" && access.of === "chat";
  const outside = isOfChat ? use.outside.filter((source) => !isOfGuest(source)) : use.outside;
  const speaker = { channel, senderId, chatType, role, audience } as const;
  return { tool, access, folder, earlier, chat, files, outside, isPlanning, speaker };
}

/** Scheduled jobs and heartbeats answer in chats whose own conversation does not hold it. */
async function wasAnswered({ sessions }: Core, text: string): Promise<boolean> {
  const own = (await sessions.list()).filter(({ key }) => channelOf(key) === "cron").slice(0, maxJobSessions);
  for (const { key } of own) {
    const messages = (await sessions.peek(key)) ?? [];
    if (
      holdsText(
        messages.filter(({ role, outside }) => role === "assistant" && outside === undefined),
        text,
      )
    )
      return true;
  }
  return false;
}

function agentPorts(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  status: Status,
  hands: Hands,
): AgentPorts {
  const {
    config: { config },
    log,
    version,
    tools = [],
  } = options;
  const { policy, grants, questions, models, budgets, skills, channels, shapes, isOwner, running } = assistant;
  const { workspace } = config.agents.defaults;
  const { files, keepOlderText } = createChatContext(assistant, workspace, core.provenance.markForeign, log);
  return {
    engine: core.engine,
    sessions: core.sessions,
    running,
    models,
    budgets,
    compaction: createCompaction({ threshold: config.agents.defaults.compactAt, log }),
    tools: createToolRegistry([...builtinTools, ...memoryTools(options, core, assistant), ...hands.tools, ...tools], {
      log,
      source: hands.source,
    }),
    decide: (use) => policy.mayUseTool(toToolUse(use, assistant)),
    filesOf: async (access, folder) =>
      access.kind === "command" && isOpenCommand(access)
        ? await filesOfCommand(access, { folder, workspace })
        : undefined,
    async allowAlways(use, responderId) {
      const grant = await grants.add(toToolUse(use, assistant), responderId);
      if (grant === undefined) return;
      const to = grants.nameOf(grant);
      core.tell(draft("settings_changed", { scope: "gateway", key: "allow_always", to }, { source: "agent" }));
    },
    outsideOf: policy.outsideOf,
    sendersIn: (folder) => core.provenance.sendersIn(folder),
    labels: core.provenance.files,
    ...hands.commands,
    previews: assistant.previews,
    artifacts: hands.artifacts,
    tasks: hands.tasks,
    wasAnswered: (text) => wasAnswered(core, text),
    questions,
    patienceMs: (message) => channels.get(message.channel)?.patienceMs ?? config.policy.answerSeconds * 1000,
    isOwner,
    isGroup,
    sources: { files, skills: skills.select, readSkill: skills.read },
    // What a sub-agent says reaches people through its parent alone.
    replies: (message, replyId, content, turnId, attachments) =>
      message.taskId === undefined
        ? repliesOf(shapes.get(message.channel), message, replyId, content, turnId, attachments)
        : [],
    keepOlderText,
    questionReplies(message, asked, content, turnId) {
      const choices = choicesFor(asked).map(({ id, label, description }) => {
        return { label, description, value: `${asked.request_id}:${id}` };
      });
      const question = { id: asked.request_id, content, choices };
      return questionRepliesOf(shapes.get(message.channel), message, question, turnId);
    },
    statusLine() {
      const now = status.read();
      // The question itself is still among those that wait.
      const others = Math.max(0, now.inboundWaiting - 1);
      return `maxclaw ${version} is ${now.state}. Model: ${now.model}. Other messages waiting: ${others}.`;
    },
    // A sub-agent works where its parent does, so that each can read what the other has written.
    sessionFolder: (key) => core.files.folder(rootKeyOf(key)),
    whyFull: core.whyFull,
    workspace,
    log,
  };
}
