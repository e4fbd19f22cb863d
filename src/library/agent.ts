import { homedir } from "node:os";
import { resolve } from "node:path";
import type { GatewayApi } from "../api/gateway-api.js";
import type { SubscribeOptions } from "../api/messages/events-api.js";
import type { TurnOutcome } from "../api/messages/messages-api.js";
import { findHome } from "../config/home.js";
import { configOf } from "../config/load.js";
import { findingIn } from "../config/settle.js";
import { ConfigError, RequestError } from "../errors.js";
import type { GatewayEvent } from "../events/event.js";
import { type Logger, silentLog } from "../log.js";
import type { Provider } from "../providers/provider.js";
import type { SessionSummary } from "../sessions/session.js";
import { readVersion } from "../util/version.js";
import type { Additions, GatewayOptions, Pauses } from "../wiring/options.js";
import { type OpenDoor, openRuntime, type Runtime } from "../wiring/runtime.js";
import { type AgentSession, createSession, type SendOptions } from "./session.js";

/** The keys of `config.json`, and the folder where everything is kept. */
export interface AgentConfig {
  /** Default: `~/.maxclaw`, or `~/.nanobot` where only that exists. Held by one program at a time. */
  readonly home?: string;
  readonly [key: string]: unknown;
}

/** What an agent can be given instead of, or in addition to, what the config names. Nothing is needed. */
export interface AgentDependencies
  extends Pick<GatewayOptions, "openEngine" | "now">,
    Omit<Additions, "providers">,
    Pick<Pauses, "modelRetryMs"> {
  /** Model providers; `model: "<name>/<model>"` chooses one, and the first is the default. */
  readonly provider?: Provider | readonly Provider[];
  /** What `${NAME}` in the config stands for, besides the secrets of the home. Default: nothing. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/** A page of sessions, the newest first. */
export interface SessionPage {
  readonly sessions: readonly SessionSummary[];
  /** Of all pages. */
  readonly total: number;
}

/** An assistant in this process: sessions, tools, memory, schedule and channels as the gateway has them, without HTTP. */
export interface Agent extends AsyncDisposable {
  /**
   * Opens the home, and goes on with what an earlier run left undone.
   *
   * @throws {ConfigError} something in the config is wrong, each mistake in words
   * @throws {EngineError} `locked` when another program holds the home, `corrupt` for a damaged journal
   * @throws {RequestError} 409 at the second call
   */
  initialize(): Promise<void>;
  /** One message in the session `webui:main`, or another one; resolves with how its turn ended. */
  chat(text: string, options?: SendOptions & { readonly sessionKey?: string }): Promise<TurnOutcome>;
  /** A new session, or the one of that key. @throws {RequestError} 400 for what is not a key, or a model that does not exist */
  createSession(options?: Parameters<GatewayApi["createSession"]>[0]): Promise<AgentSession>;
  /** @throws {RequestError} 404 */
  getSession(key: string): Promise<AgentSession>;
  /** `limit`: 50 by default. */
  getSessions(query?: Partial<Parameters<GatewayApi["listSessions"]>[0]>): Promise<SessionPage>;
  /** Each event of all chats, or of one session, from now on or after `fromSequence`. Returns the undo. */
  onEvent(
    listener: (event: GatewayEvent) => void,
    options?: SubscribeOptions & { readonly sessionKey?: string },
  ): () => void;
  /** Everything that the HTTP interface can do. */
  readonly api: GatewayApi;
  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  drain(graceMs: number): Promise<void>;
  /** Stops and closes everything. A turn that runs goes on at the next start. May be called twice. */
  dispose(): Promise<void>;
}

/**
 * An agent with this config. Does nothing before {@link Agent.initialize}, which is also where mistakes are told. Needs
 * no key: without a provider it is a local Ollama, if one answers, or the offline stand-in.
 */
export function createAgent(config: AgentConfig = {}, dependencies: AgentDependencies = {}): Agent {
  const { home: wanted, ...keys } = config;
  const { provider, env = {}, log = silentLog, openEngine, now, modelRetryMs, ...parts } = dependencies;
  const home = resolve(wanted ?? findHome({}, homedir()));
  const providers = provider === undefined ? [] : "stream" in provider ? [provider] : provider;
  return startAgent(async () => {
    const loaded = await configOf(keys, { home, env });
    if (loaded.problems.length > 0)
      throw new ConfigError(`The config is wrong: ${loaded.problems.map(findingIn).join("; ")}`);
    const added = { ...parts, providers };
    const given = { config: loaded, home, log, version: readVersion(), added, pauses: { modelRetryMs } };
    return await openRuntime({ ...given, openEngine, now });
  });
}

/** The same for a config whose mistakes have been told, with one more way in. */
export function openAgent(options: GatewayOptions, openDoor?: OpenDoor): Agent & { readonly address: string } {
  return startAgent(() => openRuntime(options, openDoor));
}

type Phase =
  | { readonly name: "new" | "closed" }
  | { readonly name: "open"; readonly opening: Promise<Runtime>; runtime?: Runtime };

function startAgent(open: () => Promise<Runtime>): Agent & { readonly address: string } {
  const state: { phase: Phase } = { phase: { name: "new" } };
  const runtime = (): Runtime => {
    const { phase } = state;
    if (phase.name === "open" && phase.runtime !== undefined) return phase.runtime;
    throw wrongPhase(phase.name === "closed" ? "The agent is disposed" : "Call initialize() first and wait for it");
  };
  const dispose = async (): Promise<void> => {
    const { phase } = state;
    state.phase = { name: "closed" };
    if (phase.name !== "open") return;
    const opened = await phase.opening.catch(() => undefined);
    await opened?.[Symbol.asyncDispose]();
  };
  return {
    async initialize() {
      if (state.phase.name === "open") throw wrongPhase("initialize() was called already");
      if (state.phase.name === "closed") throw wrongPhase("The agent is disposed");
      const phase: Phase = { name: "open", opening: open() };
      state.phase = phase;
      try {
        phase.runtime = await phase.opening;
      } catch (error) {
        // Another program may let go of the home: it can be tried again.
        if (state.phase === phase) state.phase = { name: "new" };
        throw error;
      }
    },
    async chat(text, { sessionKey = "webui:main", ...options } = {}) {
      return await createSession(runtime().api, sessionKey).chat(text, options);
    },
    async createSession(options = {}) {
      const { api } = runtime();
      return createSession(api, (await api.createSession(options)).key);
    },
    async getSession(key) {
      const { api } = runtime();
      await api.sessionStatus(key, { includeRecovery: false });
      return createSession(api, key);
    },
    getSessions: async ({ limit = 50, offset = 0, ...query } = {}) =>
      await runtime().api.listSessions({ ...query, limit, offset }),
    onEvent(listener, { sessionKey = "*", ...options } = {}) {
      const subscription = runtime().api.subscribe(sessionKey, options, listener);
      return () => subscription.close();
    },
    get api() {
      return runtime().api;
    },
    get address() {
      return runtime().address;
    },
    async drain(graceMs) {
      if (state.phase.name !== "closed") await runtime().drain(graceMs);
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function wrongPhase(message: string): RequestError {
  return new RequestError(message, { status: 409, code: "wrong_state" });
}
