import { messageOf, RequestError } from "../errors.js";
import type { Tool } from "../tools/tool.js";
import { createGate } from "../util/async/gate.js";
import { statusSentence } from "../util/words/status-sentences.js";
import { folderProblems } from "./server-folder.js";
import type { ServerSizes, ServerStatus, Servers, ServersOptions } from "./servers.js";
import { endpointOf, type McpServerSettings } from "./settings.js";

/** The result of connecting to a server once. */
type Trial = { readonly ok: true; readonly tools: readonly string[] } | { readonly ok: false; readonly error: string };

const nothing: readonly Tool[] = [];

/** The MCP servers of the config, and their tools. The client for them is loaded after the start, which it would delay. */
export class McpFamily implements AsyncDisposable {
  #settings: readonly McpServerSettings[];
  #sizes: ServerSizes;
  readonly #options: ServersOptions;
  readonly #loading = createGate();
  #servers: Servers | undefined;
  #failure: string | undefined;
  #isStarted = false;
  #isStopped = false;
  #loaded: Promise<void> = Promise.resolve();

  constructor(settings: readonly McpServerSettings[], options: ServersOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#sizes = options;
  }

  /** Begins to connect. */
  start(): void {
    this.#isStarted = true;
    if (this.#settings.length === 0) this.#loading.open();
    else this.#loaded = this.#load();
  }

  /** Goes on with these, see {@link Servers.follow}. */
  follow(settings: readonly McpServerSettings[], sizes: ServerSizes): void {
    this.#settings = settings;
    this.#sizes = sizes;
    if (this.#servers !== undefined) this.#servers.follow(settings, sizes);
    else if (this.#isStarted && settings.length > 0) this.#loaded = this.#loaded.then(() => this.#load());
  }

  /** Those that the model is shown; the same array until something changes. */
  declared(): readonly Tool[] {
    return this.#servers?.declared() ?? nothing;
  }

  find(name: string): Tool | undefined {
    return this.#servers?.find(name);
  }

  /** Waits for servers that are only just being connected to, a little: whose tools are still missing, by name. */
  async settle(signal: AbortSignal): Promise<readonly string[]> {
    await this.#loading.opened;
    await this.#loaded;
    return (await this.#servers?.settle(signal)) ?? [];
  }

  list(): readonly (ServerStatus & { readonly endpoint: string })[] {
    const status = new Map(this.#status().map((one) => [one.name, one]));
    return this.#settings.map((one) => ({
      ...(status.get(one.name) ?? unconnected(one, this.#failure)),
      endpoint: endpointOf(one),
    }));
  }

  /** Connects once more, beside the connection that turns use. @throws {RequestError} 404 */
  async test(name: string, signal: AbortSignal): Promise<Trial> {
    const server = this.#settings.find((one) => one.name === name);
    if (server === undefined) throw this.#unknown(name);
    const { tryServer } = await import("./try-server.js");
    const outcome = await tryServer(server, this.#options, signal);
    return outcome.ok ? { ok: true, tools: outcome.tools } : { ok: false, error: outcome.reason };
  }

  /** Connects again at once, e.g. after a login. @throws {RequestError} 404 */
  reconnect(name: string): void {
    if (this.#servers?.reconnect(name) !== true) throw this.#unknown(name);
  }

  /** What is wrong with servers, each as one sentence. */
  problems(): readonly string[] {
    return [
      ...folderProblems(this.#settings, this.#options),
      ...(this.#failure === undefined ? [] : [this.#failure]),
      ...this.#status().flatMap(({ name, state, reason }) =>
        reason === undefined || state === "connected" ? [] : [statusSentence("mcp_away", { name, reason })],
      ),
      ...this.#status().flatMap(({ name, wants }) =>
        wants === undefined ? [] : [statusSentence("mcp_wants", { name, reason: wants })],
      ),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#loading.open();
    await this.#loaded;
    await this.#servers?.[Symbol.asyncDispose]();
  }

  async #load(): Promise<void> {
    try {
      const { openServers } = await import("./servers.js");
      if (this.#isStopped || this.#servers !== undefined) return;
      this.#servers = openServers(this.#settings, this.#options);
      this.#servers.follow(this.#settings, this.#sizes);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = `MCP servers are configured, but the client for them cannot be loaded (${messageOf(error)}). Install it: npm install @modelcontextprotocol/client`;
      this.#options.log.error(this.#failure);
    } finally {
      this.#loading.open();
    }
  }

  #status(): readonly ServerStatus[] {
    return this.#servers?.status() ?? [];
  }

  #unknown(name: string): RequestError {
    const names = this.#settings.map((one) => one.name);
    return unknownServer(name, names);
  }
}

export function unknownServer(name: string, names: readonly string[]): RequestError {
  const known = names.length === 0 ? "none is configured" : `there are ${names.join(", ")}`;
  return new RequestError(`There is no MCP server ${name}: ${known}.`, { status: 404, code: "not_found" });
}

function unconnected({ name, command, type }: McpServerSettings, failure: string | undefined): ServerStatus {
  return {
    name,
    type: command === undefined ? (type ?? "http") : "stdio",
    state: failure === undefined ? "connecting" : "off",
    ...(failure === undefined ? {} : { reason: failure }),
    tools: [],
  };
}
