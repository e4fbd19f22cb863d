import type { Logger } from "../log.js";
import type { Tool } from "../tools/tool.js";
import { settledWithin } from "../util/async/within.js";
import { joinScopes } from "./auth/challenge.js";
import { createAuth, createLoginStore, type LoginStore } from "./auth/oauth.js";
import type { SessionOptions } from "./connection/session.js";
import { McpServer, type McpServerState, type StateDetail } from "./server.js";
import { serverFolderOf } from "./server-folder.js";
import { serverMask } from "./server-mask.js";
import type { McpLimits, McpServerSettings } from "./settings.js";
import { createOffer, type Offer } from "./tools/offer.js";
import { toolsOf } from "./tools/server-tools.js";

/** A turn that begins while servers still connect waits for them so long. */
const settleMs = 2000;

export interface ServersOptions {
  readonly version: string;
  readonly home: string;
  readonly workspace: string;
  readonly limits: McpLimits;
  /** Of the config: no server may show one. */
  readonly secrets: readonly string[];
  readonly declareBytes: number;
  readonly idleMs: number;
  readonly onState: (name: string, to: McpServerState, detail: StateDetail) => void;
  readonly log: Logger;
}

/** What is known about one server. */
export interface ServerStatus {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  readonly state: McpServerState;
  readonly reason?: string;
  /** What a person can do so that all of its tools can be used. */
  readonly wants?: string;
  readonly tools: readonly string[];
}

/** All configured servers, each connected once for all sessions. */
export interface Servers extends AsyncDisposable {
  declared(): readonly Tool[];
  find(name: string): Tool | undefined;
  /** Waits for first tries to connect, 2 s at most; the names of those that are still at it. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  status(): readonly ServerStatus[];
  /** False: there is no such server. */
  reconnect(name: string): boolean;
}

/** Begins to connect to all of them. Disposing ends every server that was started. */
export function openServers(settings: readonly McpServerSettings[], options: ServersOptions): Servers {
  const { log, declareBytes } = options;
  const stopping = new AbortController();
  const store = createLoginStore(options.home);
  const names = settings.map(({ name }) => name).sort();
  const state = { offer: undefined as Offer | undefined };
  const servers = settings.map((one) => openServer(one, store, options, () => (state.offer = undefined)));
  const running = servers.map((server) => server.run(stopping.signal));
  const offer = (): Offer => {
    state.offer ??= createOffer(toolsOf(servers, log), names, declareBytes);
    return state.offer;
  };
  const pending = new Set(servers);
  for (const server of servers) void server.tried.then(() => pending.delete(server));
  return {
    declared: () => offer().declared,
    find: (name) => offer().find(name),
    async settle(signal) {
      if (pending.size === 0) return [];
      await settledWithin(Promise.all([...pending].map(({ tried }) => tried)), { ms: settleMs, signal });
      return [...pending].map((server) => server.settings.name).sort();
    },
    status: () => servers.map(statusOf),
    reconnect(name) {
      const server = servers.find((one) => one.settings.name === name);
      server?.reconnect();
      return server !== undefined;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
      await Promise.all(running);
    },
  };
}

function openServer(
  settings: McpServerSettings,
  store: LoginStore,
  { version, home, workspace, limits, secrets, idleMs, onState, log }: ServersOptions,
  onCatalog: () => void,
): McpServer {
  return new McpServer(settings, {
    version,
    folder: serverFolderOf(home, settings.name),
    closed: [home, workspace],
    limits,
    idleMs,
    log,
    onCatalog,
    mask: serverMask(settings, secrets),
    auth: (server) => authOf(server, store, log),
    onWants: (scope) => noteWants(settings, store, scope),
    onState: (to, detail) => onState(settings.name, to, detail),
  });
}

/** Only for a server that somebody has logged in to: the others are met without. */
async function authOf(server: McpServerSettings, store: LoginStore, log: Logger): Promise<SessionOptions["auth"]> {
  if (server.url === undefined || (await store.read(server))?.tokens === undefined) return undefined;
  return createAuth(server, store, (secrets) => log.hide?.(secrets));
}

/** So that the next login asks for what this one has and for what was missing. */
async function noteWants(server: McpServerSettings, store: LoginStore, scope: string | undefined): Promise<void> {
  const known = await store.read(server);
  const wants = joinScopes(known?.tokens?.scope, known?.wants, scope) ?? "";
  if (wants !== known?.wants) await store.write(server, { wants });
}

function statusOf(server: McpServer): ServerStatus {
  const { settings, state, detail, session, catalog } = server;
  return {
    name: settings.name,
    type: session?.kind ?? (settings.command === undefined ? (settings.type ?? "http") : "stdio"),
    state,
    ...(detail.reason === undefined ? {} : { reason: detail.reason }),
    ...(server.wants === undefined ? {} : { wants: server.wants }),
    tools: (catalog?.tools ?? []).map(({ name }) => name),
  };
}
