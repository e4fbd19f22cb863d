import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCommand } from "./agent/chat-command.js";
import type { GatewayApi } from "./api/gateway-api.js";
import { createOperations } from "./api/operations.js";
import { repliesOf } from "./bus/replies.js";
import { readLedger } from "./engine/embedded/ledger.js";
import type { Payload } from "./events/catalogue.js";
import { draft } from "./events/event.js";
import { createAnsweredReactor } from "./reactors/answered-questions.js";
import { createLiveAnswersReactor } from "./reactors/live-answers.js";
import { createLogReactor } from "./reactors/log-events.js";
import { createMetricsReactor } from "./reactors/metrics.js";
import type { Reactor } from "./reactors/reactor.js";
import { createTypingReactor } from "./reactors/typing.js";
import { Releases } from "./util/releases.js";
import { type Assistant, openAssistant } from "./wiring/assistant.js";
import { type Core, gatewayKey, openCore } from "./wiring/core.js";
import { startLanes } from "./wiring/lanes.js";
import { startMemory } from "./wiring/memory.js";
import type { GatewayOptions } from "./wiring/options.js";
import { openSchedule } from "./wiring/schedule.js";
import { createStatus } from "./wiring/status.js";

/** The running daemon. Disposing drains it without grace. */
export interface Gateway extends AsyncDisposable {
  readonly api: GatewayApi;
  /** `127.0.0.1:18890`; empty without HTTP. */
  readonly address: string;
  readonly pageUrl: string;
  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  drain(graceMs: number): Promise<void>;
}

type ConnectionState = Payload<"connection_state_changed">["to"];

const webRoot = fileURLToPath(new URL("../web", import.meta.url));

/**
 * Builds every part from the config, runs them together and undoes them in reverse.
 *
 * @throws {EngineError} `locked` when another gateway holds the home or the workspace, `corrupt` for a damaged journal
 * @throws {ConfigError} when the address cannot be bound or needs a token, or a folder cannot be used
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const releases = new Releases(options.log);
  try {
    const core = await openCore(options, releases);
    const assistant = await openAssistant(options, core);
    const status = createStatus(options, core, assistant);
    const metrics = options.config.config.reactors.metrics ? createMetricsReactor() : undefined;
    const api = createOperations({
      ...core,
      ...assistant,
      bus: core.events,
      chooseModel: assistant.models.choose,
      isFreshStart: (content) => parseCommand(content)?.name === "new",
      status: status.read,
      readLedger: () => readLedger(options.home, core.files.dir),
      systemKey: gatewayKey,
      policyConfig: {
        executionMode: options.config.config.agents.defaults.executionMode,
        rules: options.config.config.policy.rules.map(definedOnly),
      },
      uploads: join(options.config.config.agents.defaults.workspace, ".uploads"),
      metrics: () => metrics?.prometheusText() ?? "",
      log: options.log,
    });
    startReactors(options, core, assistant, metrics, releases);
    const schedule = openSchedule(options, core, releases);
    startMemory(options, core, assistant, releases);
    const stopping = new AbortController();
    const http =
      options.http === false
        ? undefined
        : releases.use(await openHttp(options, core, api, stopping.signal), "HTTP server");
    const address = http?.address ?? "";
    await core.setAddress(address);
    const lanes = startLanes(options, core, assistant, status, [schedule.tool]);
    status.enter("ready");
    const parts = releases.move();
    return {
      api,
      address,
      pageUrl: address === "" ? "" : `http://${address}/`,
      drain: lanes.drain,
      async [Symbol.asyncDispose]() {
        await lanes.drain(0);
        stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
        await parts[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await releases[Symbol.asyncDispose]();
    throw error;
  }
}

/** A rule as it was written. */
function definedOnly(rule: object): Record<string, string> {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}

function startReactors(
  { config: { config }, log, reactors: others = [] }: GatewayOptions,
  { engine, events }: Core,
  { channels, previews }: Assistant,
  metrics: Reactor | undefined,
  releases: Releases,
): void {
  const reactors: Reactor[] = [];
  if (config.reactors.log) reactors.push(createLogReactor({ log }));
  if (metrics !== undefined) reactors.push(metrics);
  if (config.reactors.typing) reactors.push(createTypingReactor({ channels, log }));
  if (config.reactors.answers) reactors.push(createAnsweredReactor({ channels, engine, log }));
  if (config.reactors.live) {
    const firstPiece = (key: string, messageId: string, turnId: string, text: string) => {
      const work = engine.waiting("inbound", key).find(({ id }) => id === messageId);
      if (work === undefined) return undefined;
      return repliesOf(channels.get(work.body.channel), work.body, turnId, text, turnId)[0]?.body;
    };
    reactors.push(createLiveAnswersReactor({ channels, previews, firstPiece, log }));
  }
  for (const reactor of [...reactors, ...others]) {
    reactor.start(events);
    releases.defer(() => reactor.stop(), `reactor ${reactor.name}`);
  }
}

async function openHttp(
  options: GatewayOptions,
  core: Core,
  api: GatewayApi,
  signal: AbortSignal,
): Promise<{ readonly address: string } & AsyncDisposable> {
  const { openHttpServer } = await import("./http/server.js");
  const { gateway } = options.config.config;
  return await openHttpServer(
    {
      host: options.host ?? gateway.host,
      port: options.port ?? gateway.port,
      token: gateway.token,
      allowedOrigins: gateway.allowedOrigins,
      webRoot,
      onClient: (name) => {
        const tell = (from: ConnectionState, to: ConnectionState): void =>
          core.tell(draft("connection_state_changed", { peer: "client", name, from, to }, { source: "client" }));
        tell("connecting", "connected");
        return () => tell("connected", "disconnected");
      },
      log: options.log,
    },
    api,
    signal,
  );
}
