import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { GatewayApi } from "./api/gateway-api.js";
import { createOperations } from "./api/operations.js";
import type { Channel } from "./channels/channel.js";
import { readLedger } from "./engine/embedded/ledger.js";
import type { EventConsumer } from "./events/system-bus.js";
import { createLogReactor } from "./reactors/log-events.js";
import { createMetricsReactor } from "./reactors/metrics.js";
import type { Reactor } from "./reactors/reactor.js";
import { createTypingReactor } from "./reactors/typing.js";
import { Releases } from "./util/releases.js";
import { openAssistant } from "./wiring/assistant.js";
import { gatewayKey, openCore } from "./wiring/core.js";
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

const webRoot = fileURLToPath(new URL("../web", import.meta.url));

/**
 * Builds every part from the config, runs them together and undoes them in reverse.
 *
 * @throws {EngineError} `locked` when another gateway holds the home or the workspace, `corrupt` for a damaged journal
 * @throws {ConfigError} when the address cannot be bound or needs a token, or a folder cannot be used
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const releases = new Releases();
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
      status: status.read,
      readLedger: () => readLedger(options.home, core.files.dir),
      systemKey: gatewayKey,
      uploads: join(options.config.config.agents.defaults.workspace, ".uploads"),
      metrics: () => metrics?.prometheusText() ?? "",
      log: options.log,
    });
    startReactors(options, core.events, assistant.channels, metrics, releases);
    const schedule = openSchedule(options, core, releases);
    startMemory(options, core, assistant, releases);
    const stopping = new AbortController();
    const http = options.http === false ? undefined : releases.use(await openHttp(options, api, stopping.signal));
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

function startReactors(
  { config: { config }, log }: GatewayOptions,
  events: EventConsumer,
  channels: ReadonlyMap<string, Channel>,
  metrics: Reactor | undefined,
  releases: Releases,
): void {
  const reactors: Reactor[] = [];
  if (config.reactors.log) reactors.push(createLogReactor({ log }));
  if (metrics !== undefined) reactors.push(metrics);
  if (config.reactors.typing) reactors.push(createTypingReactor({ channels, log }));
  for (const reactor of reactors) {
    reactor.start(events);
    releases.defer(() => reactor.stop());
  }
}

async function openHttp(
  options: GatewayOptions,
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
      log: options.log,
    },
    api,
    signal,
  );
}
