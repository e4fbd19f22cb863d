import { createAgent } from "../agent/agent.js";
import { createCompaction } from "../agent/compaction.js";
import { createClock } from "../agent/context.js";
import type { AgentPorts } from "../agent/ports.js";
import { deliverOutbound } from "../bus/delivery.js";
import { isGroup, repliesOf } from "../bus/replies.js";
import { superviseChannel } from "../channels/supervisor.js";
import { draft } from "../events/event.js";
import { builtinTools } from "../tools/builtin.js";
import { createToolRegistry } from "../tools/registry.js";
import type { Tool } from "../tools/tool.js";
import { sleep } from "../util/sleep.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import { memoryTools } from "./memory.js";
import type { GatewayOptions } from "./options.js";
import type { Status } from "./status.js";

const turnsParallel = 64;
const maxAttempts = 3;
const stuckMs = 1000;
/** A send that is cut may be said twice: one that is under way gets this long, however little grace is left. */
const leastSendMs = 1000;

/** Sets everything that works through the queues in motion. */
export function startLanes(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  status: Status,
  moreTools: readonly Tool[],
): { drain(graceMs: number): Promise<void> } {
  const { log } = options;
  const { channels, intake, running } = assistant;
  const { engine, messages } = core;
  const receiving = new AbortController();
  const working = new AbortController();
  const sending = new AbortController();

  const agent = createAgent(agentPorts(options, core, assistant, status, moreTools), {
    maxIterations: options.config.config.agents.defaults.maxToolIterations,

    maxModelAttempts: 3,
    clock: createClock(Intl.DateTimeFormat().resolvedOptions().timeZone),
    ...options.config.config.events,
  });
  if (options.work === false) working.abort();
  if (options.work === false || options.channels === false) sending.abort();
  const inbound = messages.consumeInbound({ parallel: turnsParallel, maxAttempts }, agent, working.signal);
  let graceEnd = 0;
  const graceMs = (): number => Math.max(graceEnd - Date.now(), leastSendMs);
  const outbound = deliverOutbound({ engine, channels, log, graceMs }, sending.signal);
  const connections = [...(options.channels === false ? [] : channels.values())].map((channel) => {
    const { name } = channel;
    status.channels.set(name, { name, state: "connecting" });
    return superviseChannel(
      channel,
      (received) => intake.receive(name, received),
      {
        log,
        onState(to, { attempt, delayMs, reason }) {
          const from = status.channels.get(name)?.state ?? "connecting";
          status.channels.set(name, { name, state: to, ...(reason === undefined ? {} : { reason }) });
          if (from === "off" || from === to) return;
          const payload = { peer: "channel" as const, name, from, to, attempt, delay_ms: delayMs, reason };
          core.tell(draft("connection_state_changed", payload, { source: `channel:${name}` }));
        },
      },
      receiving.signal,
    );
  });

  const drain = async (totalMs: number): Promise<void> => {
    status.enter("draining");
    const why = new DOMException("The gateway is stopping", "AbortError");
    graceEnd = Date.now() + totalMs;
    messages.close();
    receiving.abort(why);
    working.abort(why);
    const cut = setTimeout(() => running.shutDown(), totalMs);
    await Promise.allSettled([inbound, ...connections]);
    clearTimeout(cut);
    if (!sending.signal.aborted) await outboxAtRest(() => engine.status().outboundWaiting, graceEnd);
    sending.abort(why);
    await outbound;
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

function agentPorts(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  status: Status,
  moreTools: readonly Tool[],
): AgentPorts {
  const {
    config: { config },
    log,
    version,
    tools = [],
  } = options;
  const { policy, models, skills, contextFiles, channels, isOwner, running } = assistant;
  return {
    engine: core.engine,
    sessions: core.sessions,
    running,
    chooseModel: models.choose,
    compaction: createCompaction({ threshold: config.agents.defaults.compactAt, log }),
    tools: createToolRegistry([...builtinTools, ...memoryTools(options, core), ...moreTools, ...tools], { log }),
    permit(tool, access, message, folder) {
      const role = isOwner(message.channel, message.senderId) ? "owner" : "guest";
      const decision = policy.mayUseTool({
        toolName: tool.name,
        effect: tool.effect,
        access,
        folder,
        role,
        isGroup: isGroup(message),
      });
      return decision.allowed ? undefined : decision.sentence;
    },
    isOwner,
    isGroup,
    sources: { files: contextFiles.load, skills: skills.select, readSkill: skills.text },
    replies: (message, replyId, content, turnId) =>
      repliesOf(channels.get(message.channel), message, replyId, content, turnId),
    statusLine() {
      const now = status.read();
      // The question itself is still among those that wait.
      const others = Math.max(0, now.inboundWaiting - 1);
      return `maxclaw ${version} is ${now.state}. Model: ${now.model}. Other messages waiting: ${others}.`;
    },
    sessionFolder: core.files.folder,
    workspace: config.agents.defaults.workspace,
    log,
  };
}
