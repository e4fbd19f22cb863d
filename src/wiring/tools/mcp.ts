import type { McpApi } from "../../api/mcp-api.js";
import type { Config } from "../../config/schema.js";
import { draft } from "../../events/event.js";
import { McpFamily, unknownServer } from "../../mcp/family.js";
import type { McpServerState, StateDetail } from "../../mcp/server.js";
import { defaultLimits, toServerSettings } from "../../mcp/settings.js";
import type { ToolSource } from "../../tools/registry.js";
import type { Releases } from "../../util/async/releases.js";
import type { Assistant } from "../assistant/assistant.js";
import type { Core } from "../core/core.js";
import { type GatewayOptions, isWorking } from "../options.js";

export interface Mcp {
  /** Undefined where nothing is worked on. */
  readonly tools: ToolSource | undefined;
  readonly api: McpApi;
  /** What is wrong with servers, each as one sentence. */
  readonly problems: () => readonly string[];
  /** Begins to connect. */
  start(): void;
}

export function openMcp(
  options: GatewayOptions,
  core: Core,
  { live }: Pick<Assistant, "live">,
  releases: Releases,
): Mcp {
  const { home, version, log } = options;
  const { tools, agents } = live.running;
  const settings = toServerSettings(tools.mcpServers);
  if (!isWorking(options)) return noServers(settings.map(({ name }) => name));
  const family = new McpFamily(settings, {
    version,
    home,
    workspace: agents.defaults.workspace,
    limits: defaultLimits,
    get secrets() {
      return live.secrets;
    },
    ...sizesOf(tools),
    log,
    onState: createStateLog(core),
  });
  releases.use(family, "MCP servers");
  live.own({
    sections: ["tools.mcpServers", "tools.mcp"],
    apply: (next) => family.follow(toServerSettings(next.tools.mcpServers), sizesOf(next.tools)),
  });
  return {
    tools: family,
    api: family,
    problems: () => family.problems(),
    start: () => family.start(),
  };
}

function sizesOf({ mcp }: Config["tools"]) {
  return { declareBytes: mcp.declareBytes, idleMs: mcp.idleMinutes * 60_000 };
}

function noServers(names: readonly string[]): Mcp {
  return {
    tools: undefined,
    api: {
      list: () => [],
      test: async (name) => {
        throw unknownServer(name, names);
      },
      reconnect(name) {
        throw unknownServer(name, names);
      },
    },
    problems: () => [],
    start() {},
  };
}

const connections = {
  connecting: "connecting",
  connected: "connected",
  reconnecting: "reconnecting",
  idle: "disconnected",
  off: "disconnected",
} as const;

/** Each further try to connect is logged with its number; the steps between are not. */
function createStateLog(core: Core): (name: string, state: McpServerState, detail: StateDetail) => void {
  const logged = new Map<string, (typeof connections)[McpServerState]>();
  return (name, state, { attempt, delayMs, reason, toolCount }) => {
    const from = logged.get(name) ?? "disconnected";
    const to = connections[state];
    if (to === "connecting" && from === "reconnecting") return;
    if (to === from && to !== "reconnecting") return;
    logged.set(name, to);
    const why = reason ?? (state === "idle" ? "not used for a while" : undefined);
    const payload = {
      peer: "mcp" as const,
      name,
      from,
      to,
      ...(attempt === undefined ? {} : { attempt }),
      ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
      ...(why === undefined ? {} : { reason: why }),
      ...(toolCount === undefined ? {} : { tool_count: toolCount }),
    };
    core.logEvent(draft("connection_state_changed", payload, { source: `mcp:${name}` }));
  };
}
