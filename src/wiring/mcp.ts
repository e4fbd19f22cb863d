import type { McpApi } from "../api/mcp-api.js";
import { messageOf, RequestError } from "../errors.js";
import { draft } from "../events/event.js";
import type { McpServerState, StateDetail } from "../mcp/server.js";
import { placeProblems } from "../mcp/server-folder.js";
import type { Servers } from "../mcp/servers.js";
import { defaultLimits, endpointOf, type McpServerSettings, toServerSettings } from "../mcp/settings.js";
import type { ToolSource } from "../tools/registry.js";
import { createGate } from "../util/async/gate.js";
import type { Releases } from "../util/async/releases.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";

export interface Mcp {
  /** Undefined while no server is configured. */
  readonly tools: ToolSource | undefined;
  readonly api: McpApi;
  /** What is wrong with servers, each as one sentence. */
  readonly problems: () => readonly string[];
  /** Begins to connect. What that needs is loaded only now, so that it delays no start. */
  start(): void;
}

export function openMcp(options: GatewayOptions, core: Core, releases: Releases): Mcp {
  const { tools, agents } = options.config.config;
  const { workspace } = agents.defaults;
  const settings = toServerSettings(tools.mcpServers);
  const names = settings.map(({ name }) => name);
  if (settings.length === 0 || options.work === false) return noServers(names);
  const loading = createGate();
  const state: { servers?: Servers; failure?: string; isStopped?: true } = {};
  const nothing: ReturnType<Servers["declared"]> = [];

  const load = async (): Promise<void> => {
    try {
      const { openServers } = await import("../mcp/servers.js");
      if (state.isStopped) return;
      state.servers = openServers(settings, {
        version: options.version,
        home: options.home,
        workspace,
        limits: defaultLimits,
        secrets: options.config.secrets,
        declareBytes: tools.mcp.declareBytes,
        idleMs: tools.mcp.idleMinutes * 60_000,
        log: options.log,
        onState: createTeller(core),
      });
    } catch (error) {
      state.failure = `MCP servers are configured, but the client for them cannot be loaded (${messageOf(error)}). Install it: npm install @modelcontextprotocol/client`;
      options.log.error(state.failure);
    } finally {
      loading.open();
    }
  };
  const loaded: { done: Promise<void> } = { done: Promise.resolve() };
  releases.defer(async () => {
    state.isStopped = true;
    loading.open();
    await loaded.done;
    await state.servers?.[Symbol.asyncDispose]();
  }, "MCP servers");
  return {
    tools: {
      declared: () => state.servers?.declared() ?? nothing,
      find: (name) => state.servers?.find(name),
      async settle(signal) {
        await loading.opened;
        return (await state.servers?.settle(signal)) ?? [];
      },
    },
    api: {
      list() {
        const status = new Map((state.servers?.status() ?? []).map((one) => [one.name, one]));
        return settings.map((one) => ({
          ...(status.get(one.name) ?? waiting(one, state.failure)),
          endpoint: endpointOf(one),
        }));
      },
      async test(name, signal) {
        const server = settings.find((one) => one.name === name);
        if (server === undefined) throw unknownServer(name, names);
        const { tryServer } = await import("../mcp/try-server.js");
        const { secrets } = options.config;
        const place = { home: options.home, workspace, version: options.version, secrets };
        const outcome = await tryServer(server, place, signal);
        return outcome.ok ? { ok: true, tools: outcome.tools } : { ok: false, error: outcome.reason };
      },
      reconnect(name) {
        if (state.servers?.reconnect(name) !== true) throw unknownServer(name, names);
      },
    },
    problems: () => [
      ...placeProblems(settings, { home: options.home, workspace }),
      ...(state.failure === undefined ? [] : [state.failure]),
      ...(state.servers?.status() ?? []).flatMap(({ name, state: now, reason }) =>
        reason === undefined || now === "connected" ? [] : [`MCP server ${name} is not connected: ${reason}`],
      ),
      ...(state.servers?.status() ?? []).flatMap(({ name, wants }) =>
        wants === undefined ? [] : [`MCP server ${name} cannot do all that it offers: ${wants}`],
      ),
    ],
    start() {
      loaded.done = load();
    },
  };
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

function unknownServer(name: string, names: readonly string[]): RequestError {
  const known = names.length === 0 ? "none is configured" : `there are ${names.join(", ")}`;
  return new RequestError(`There is no MCP server ${name}: ${known}.`, { status: 404, code: "not_found" });
}

function waiting({ name, command, type }: McpServerSettings, failure: string | undefined) {
  return {
    name,
    type: command === undefined ? (type ?? "http") : "stdio",
    state: failure === undefined ? "connecting" : "off",
    ...(failure === undefined ? {} : { reason: failure }),
    tools: [],
  } as const;
}

const connections = {
  connecting: "connecting",
  connected: "connected",
  reconnecting: "reconnecting",
  idle: "disconnected",
  off: "disconnected",
} as const;

/** Each further try to connect is told with its number, the way there is not. */
function createTeller(core: Core): (name: string, state: McpServerState, detail: StateDetail) => void {
  const told = new Map<string, (typeof connections)[McpServerState]>();
  return (name, state, { attempt, delayMs, reason, toolCount }) => {
    const from = told.get(name) ?? "disconnected";
    const to = connections[state];
    if (to === "connecting" && from === "reconnecting") return;
    if (to === from && to !== "reconnecting") return;
    told.set(name, to);
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
    core.tell(draft("connection_state_changed", payload, { source: `mcp:${name}` }));
  };
}
