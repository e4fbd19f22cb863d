import { join } from "node:path";
import type { GatewayApi } from "./api/gateway-api.js";
import type { Payload } from "./events/catalogue.js";
import { draft } from "./events/event.js";
import { openAgent } from "./library/agent.js";
import { ownPackage } from "./util/package-folder.js";
import type { GatewayOptions, Listen } from "./wiring/options.js";
import type { Door, DoorPorts } from "./wiring/runtime.js";

/** The running daemon: an agent that also listens for HTTP. Disposing drains it without grace. */
export interface Gateway extends AsyncDisposable {
  readonly api: GatewayApi;
  /** `127.0.0.1:18890`; empty without HTTP. */
  readonly address: string;
  readonly pageUrl: string;
  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  drain(graceMs: number): Promise<void>;
}

type ConnectionState = Payload<"connection_state_changed">["to"];

/**
 * Opens an agent with the config's channels, and an HTTP server in front of it.
 *
 * @throws {EngineError} `locked` when another gateway holds the home or the workspace, `corrupt` for a damaged journal
 * @throws {ConfigError} when the address cannot be bound or needs a token, or a folder cannot be used
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { http: listen = {} } = options;
  const { basePath } = options.config.config.gateway;
  const agent = openAgent(options, listen === false ? undefined : (ports) => openHttp(options, listen, ports));
  await agent.initialize();
  return {
    api: agent.api,
    address: agent.address,
    pageUrl: agent.address === "" ? "" : `http://${agent.address}${basePath}/`,
    drain: (graceMs) => agent.drain(graceMs),
    [Symbol.asyncDispose]: () => agent.dispose(),
  };
}

async function openHttp(
  options: GatewayOptions,
  listen: Listen,
  { api, hookOf, logEvent, settings, signal }: DoorPorts,
): Promise<Door> {
  const { openHttpServer } = await import("./http/server.js");
  const { gateway } = options.config.config;
  return await openHttpServer(
    {
      host: listen.host ?? gateway.host,
      port: listen.port ?? gateway.port,
      token: gateway.token,
      allowedOrigins: gateway.allowedOrigins,
      site: settings,
      webRoot: join(ownPackage().folder, "dist", "web"),
      onClient: (name) => {
        const change = (from: ConnectionState, to: ConnectionState): void =>
          logEvent(draft("connection_state_changed", { peer: "client", name, from, to }, { source: "client" }));
        change("connecting", "connected");
        return () => change("connected", "disconnected");
      },
      hookOf,
      log: options.log,
    },
    api,
    signal,
  );
}
