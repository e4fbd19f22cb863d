import type { ChannelStatus, GatewayStatus } from "../api/gateway-status.js";
import { isUnmended } from "../config/file-modes.js";
import { draft } from "../events/event.js";
import type { Assistant } from "./assistant.js";
import type { Core } from "./core.js";
import { damagedLogs } from "./damage-notices.js";
import type { Mcp } from "./mcp.js";
import type { GatewayOptions } from "./options.js";
import { stuckChats } from "./stuck-chats.js";
import type { OpenedTools } from "./tools.js";
import { undeliveredProblems } from "./undelivered.js";

export interface Status {
  read(): GatewayStatus;
  enter(state: GatewayStatus["state"]): void;
  readonly channels: Map<string, ChannelStatus>;
}

export function createStatus(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { tools, mcp }: { readonly tools: OpenedTools; readonly mcp: Mcp },
): Status {
  const { home, version } = options;
  const { models, policy, skills, channelFaults, guestProblems } = assistant;
  const startedAt = new Date(options.now?.() ?? Date.now()).toISOString();
  const channels = new Map<string, ChannelStatus>();
  for (const { section, reason } of options.config.off) {
    const [, name] = /^channels\.([a-z0-9-]+)$/.exec(section) ?? [];
    if (name !== undefined) channels.set(name, { name, state: "off", reason });
  }
  for (const [name, reason] of channelFaults.off) channels.set(name, { name, state: "off", reason });
  let state: GatewayStatus["state"] = "starting";
  return {
    channels,
    enter(to) {
      core.tell(draft("gateway_state_changed", { from: state, to, version }, { source: "gateway" }));
      state = to;
    },
    read() {
      const {
        writable,
        reason = "The disk refuses writes.",
        inboundWaiting,
        outboundWaiting,
        deadLetters,
        syncs,
        problems: engineProblems = [],
      } = core.engine.status();
      const { provider, model } = models.describe();
      const providerReason = models.providerReason();
      const problems = [
        ...options.config.problems.filter(isUnmended),
        ...channelFaults.problems,
        ...policy.problems,
        ...guestProblems(),
        ...skills.problems(),
        ...models.problems(),
        ...tools.problems,
        ...mcp.problems(),
        ...engineProblems,
      ];
      problems.push(...undeliveredProblems(core.engine, options.now?.() ?? Date.now()));
      problems.push(...damagedLogs(core));
      if (!writable) problems.push(reason);
      const storageProblem = core.storageProblem();
      if (storageProblem !== undefined) problems.push(storageProblem);
      return {
        version,
        state,
        instanceId: core.instanceId,
        pid: process.pid,
        startedAt,
        home,
        workspace: options.config.config.agents.defaults.workspace,
        provider,
        model,
        executionMode: options.config.config.agents.defaults.executionMode,
        restrictToWorkspace: options.config.config.tools.restrictToWorkspace,
        ...(providerReason === undefined ? {} : { providerReason }),
        channels: [...channels.values()],
        problems,
        missing: tools.missing,
        sandbox: tools.sandbox(),
        inboundWaiting,
        outboundWaiting,
        deadLetters,
        stuckChats: stuckChats(core, assistant),
        rssBytes: process.memoryUsage.rss(),
        syncs,
      };
    },
  };
}
