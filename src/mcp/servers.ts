import { freshMask } from "../log/mask.js";
import type { Logger } from "../log.js";
import type { Tool } from "../tools/tool.js";
import { settledWithin } from "../util/async/within.js";
import { canonicalJson } from "../util/canonical-json.js";
import { joinScopes } from "./auth/challenge.js";
import { createAuth, createLoginStore, type LoginStore } from "./auth/oauth.js";
import type { ServerCatalog } from "./connection/catalog.js";
import type { SessionOptions } from "./connection/session.js";
import { McpServer, type McpServerState, type StateDetail } from "./server.js";
import { serverFolderOf } from "./server-folder.js";
import { secretsFor } from "./server-mask.js";
import type { McpLimits, McpServerSettings } from "./settings.js";
import { createOffer, type Offer } from "./tools/offer.js";
import { toolsOf } from "./tools/server-tools.js";

/** A turn that begins while servers still connect waits for them so long. */
const settleMs = 2000;

/** What all of them go by together. */
export interface ServerSizes {
  readonly declareBytes: number;
  readonly idleMs: number;
}

export interface ServersOptions extends ServerSizes {
  readonly version: string;
  readonly home: string;
  readonly workspace: string;
  readonly limits: McpLimits;
  /** Of the config, as it is at each look: no server may show one. */
  readonly secrets: readonly string[];
  readonly onState: (name: string, to: McpServerState, detail: StateDetail) => void;
  readonly log: Logger;
}

/** What is known about one server. */
export interface ServerStatus {
  readonly name: string;
  readonly type: "stdio" | "http" | "sse";
  readonly state: McpServerState;
  /** Of this state; a server that is away is so since it was lost, or since the first try. ISO 8601. */
  readonly since?: string;
  readonly reason?: string;
  /** What a person can do so that all of its tools can be used. */
  readonly wants?: string;
  readonly tools: readonly string[];
}

/** Begins to connect to all of them. Disposing ends every server that was started. */
export function openServers(settings: readonly McpServerSettings[], options: ServersOptions): Servers {
  return new Servers(settings, options);
}

/** A server at work, and the one before it, which may still be at a call. */
interface Held {
  readonly server: McpServer;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly before: Held | undefined;
}

/** All configured servers, each connected once for all sessions. */
export class Servers implements AsyncDisposable {
  readonly #options: ServersOptions;
  readonly #store: LoginStore;
  readonly #held = new Map<string, Held>();
  readonly #pending = new Set<McpServer>();
  /** Those that were taken out as well, until they have ended. */
  readonly #all = new Set<Held>();
  #sizes: ServerSizes;
  #offer: Offer | undefined;

  constructor(settings: readonly McpServerSettings[], options: ServersOptions) {
    this.#options = options;
    this.#store = createLoginStore(options.home);
    this.#sizes = options;
    this.follow(settings, options);
  }

  /**
   * From now on these. One that is not among them is ended at once, its calls with a clear error. One that has changed is
   * replaced once its calls are over; further calls are for the new one, and wait for it.
   */
  follow(settings: readonly McpServerSettings[], sizes: ServerSizes): void {
    this.#sizes = { declareBytes: sizes.declareBytes, idleMs: sizes.idleMs };
    this.#offer = undefined;
    const names = new Set(settings.map(({ name }) => name));
    for (const [name, held] of this.#held)
      if (!names.has(name)) {
        this.#held.delete(name);
        end(held, "it was taken out of the config");
      }
    for (const one of settings) {
      const before = this.#held.get(one.name);
      if (before === undefined || canonicalJson(before.server.settings) !== canonicalJson(one))
        this.#begin(one, before);
    }
  }

  declared(): readonly Tool[] {
    return this.#offered().declared;
  }

  find(name: string): Tool | undefined {
    return this.#offered().find(name);
  }

  /** Waits for first tries to connect, 2 s at most; the names of those that are still at it. */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    if (this.#pending.size === 0) return [];
    await settledWithin(Promise.all([...this.#pending].map(({ tried }) => tried)), { ms: settleMs, signal });
    return [...this.#pending].map((server) => server.settings.name).sort();
  }

  status(): readonly ServerStatus[] {
    return [...this.#held.values()].map(({ server }) => statusOf(server));
  }

  /** False: there is no such server. */
  reconnect(name: string): boolean {
    const held = this.#held.get(name);
    held?.server.reconnect();
    return held !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const held of this.#all) end(held, "the gateway is stopping");
    await Promise.all([...this.#all].map(({ ended }) => ended));
  }

  #offered(): Offer {
    const names = [...this.#held.keys()].sort();
    const servers = [...this.#held.values()].map(({ server }) => server);
    this.#offer ??= createOffer(toolsOf(servers, this.#options.log), names, this.#sizes.declareBytes);
    return this.#offer;
  }

  #begin(settings: McpServerSettings, before: Held | undefined): void {
    const known = before !== undefined && isSameProgram(before.server.settings, settings) ? before.server : undefined;
    const server = this.#open(settings, known?.catalog);
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      if (before !== undefined) {
        await before.server.unused();
        end(before, "its settings were changed");
        // Two of one name would meet in one folder.
        await before.ended;
      }
      await server.run(stop.signal);
    };
    const held: Held = { server, stop, before, ended: run().finally(() => this.#all.delete(held)) };
    this.#all.add(held);
    this.#held.set(settings.name, held);
    if (before !== undefined) this.#pending.delete(before.server);
    this.#pending.add(server);
    void server.tried.then(() => this.#pending.delete(server));
  }

  #open(settings: McpServerSettings, known: ServerCatalog | undefined): McpServer {
    const { version, home, workspace, limits, onState, log } = this.#options;
    const [options, store] = [this.#options, this.#store];
    const sizes = (): ServerSizes => this.#sizes;
    return new McpServer(settings, {
      version,
      folder: serverFolderOf(home, settings.name),
      closed: [home, workspace],
      limits,
      get idleMs() {
        return sizes().idleMs;
      },
      log,
      known,
      onCatalog: () => {
        this.#offer = undefined;
      },
      mask: freshMask(() => secretsFor(settings, options.secrets)),
      auth: (server) => authOf(server, store, log),
      onWants: (scope) => noteWants(settings, store, scope),
      onState: (to, detail) => onState(settings.name, to, detail),
    });
  }
}

function end({ stop, before }: Held, why: string): void {
  stop.abort(new DOMException(why, "AbortError"));
  if (before !== undefined) end(before, why);
}

/** So that what it offered last is what it offers. */
function isSameProgram(one: McpServerSettings, other: McpServerSettings): boolean {
  const whereIs = ({ command, args, cwd, url, type }: McpServerSettings): string =>
    canonicalJson({ command, args, cwd, url, type });
  return whereIs(one) === whereIs(other);
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
    since: server.since.toISOString(),
    ...(detail.reason === undefined ? {} : { reason: detail.reason }),
    ...(server.wants === undefined ? {} : { wants: server.wants }),
    tools: (catalog?.tools ?? []).map(({ name }) => name),
  };
}
