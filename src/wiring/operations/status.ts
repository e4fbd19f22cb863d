import type { ChannelStatus, EngineFacts } from "../../api/gateway-status.js";
import { ChannelStates } from "../../api/status/channel-states.js";
import { createGuestProblems } from "../../api/status/guest-problems.js";
import { Status } from "../../api/status/status.js";
import { setUpOf, titleOf } from "../../channels/platforms.js";
import { isUnmended } from "../../config/file-modes.js";
import type { Config } from "../../config/schema.js";
import { databaseName } from "../../doctor/database-name.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import type { Mcp } from "../tools/mcp.js";
import type { OpenedTools } from "../tools/tools.js";

export interface OpenedStatus {
  readonly status: Status;
  readonly channels: ChannelStates;
}

/** A way in that may have something to say about who comes. */
interface DoorState {
  problems?(): readonly string[];
}

/** What people see of how the gateway is. */
export function openStatus(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { tools, mcp, doors }: { readonly tools: OpenedTools; readonly mcp: Mcp; readonly doors: readonly DoorState[] },
): OpenedStatus {
  const { home, version, config: loaded, now = Date.now } = options;
  const { workspace } = loaded.config.agents.defaults;
  const { inbound, mind, people, platforms, live } = assistant;
  const channels = new ChannelStates(
    new Map([...switchedOff(options), ...platforms.off]),
    core.logEvent,
    (name) => (platforms.isAdded(name) ? undefined : titleOfOffered(name)),
    (name) => platforms.channels.get(name)?.toDo?.(),
  );
  const status = new Status({
    facts: {
      version,
      instanceId: core.process.instanceId,
      home,
      workspace,
      engine: engineOf(options, core),
      get missing() {
        return tools.missing;
      },
    },
    rights: () => rightsIn(live.running),
    engine: core.engine,
    models: mind.models,
    channels,
    chats: inbound,
    sandbox: tools.sandbox,
    config: () => live.state,
    problems: [
      () => live.problems().filter(isUnmended),
      () => options.added?.problems ?? [],
      platforms.problems,
      () => people.policy.problems,
      guestProblems(assistant),
      () => mind.skills.problems(),
      () => mind.models.problems(),
      tools.problems,
      mcp.problems,
      () => doors.flatMap((door) => door.problems?.() ?? []),
    ],
    storageProblem: core.storageProblem,
    logEvent: core.logEvent,
    now,
  });
  return { status, channels };
}

function engineOf({ config, openEngine }: GatewayOptions, { engine: { nodeId } }: Core): EngineFacts | undefined {
  const { kind, url, schema } = config.config.engine;
  if (openEngine !== undefined) return undefined;
  return kind === "embedded" ? { kind, nodeId } : { kind, nodeId, database: databaseName(url), schema };
}

/** What people set up by its name, they know by that name. */
function titleOfOffered(name: string): ChannelStatus["title"] {
  return setUpOf(name) === undefined ? undefined : titleOf(name);
}

/** Channels whose section of the config cannot be used, each with why. */
function switchedOff({ config: { off } }: GatewayOptions): ReadonlyMap<string, string> {
  const named = off.map(({ section, reason }) => [/^channels\.([a-z0-9-]+)$/.exec(section)?.[1], reason] as const);
  return new Map(named.flatMap(([name, reason]) => (name === undefined ? [] : [[name, reason] as const])));
}

function rightsIn({ agents, tools }: Config) {
  return { executionMode: agents.defaults.executionMode, restrictToWorkspace: tools.restrictToWorkspace };
}

function guestProblems({ people, mind, readers, live }: Assistant) {
  return createGuestProblems({
    channels: () => live.running.channels,
    get heartbeat() {
      return live.running.heartbeat;
    },
    pairing: people.pairing,
    contextFiles: mind.contextFiles,
    isOwner: people.isOwner,
    isOwnersChat: (key) => readers.ofSession(key).audience === "owner",
  });
}
