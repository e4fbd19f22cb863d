import type { Channel, PlatformContext } from "../channels/channel.js";
import type { LoadedConfig } from "../config/load.js";
import type { HomeOptions, OpenEngine } from "../engine/embedded/open-home.js";
import type { Machine } from "../events/machines/input.js";
import type { Logger } from "../log.js";
import type { Provider } from "../providers/provider.js";
import type { Reactor } from "../reactors/reactor.js";
import type { StorageDriver } from "../sessions/storage/storage.js";
import type { Tool } from "../tools/tool.js";

export interface GatewayOptions {
  readonly config: LoadedConfig;
  readonly home: string;
  readonly log: Logger;
  readonly version: string;
  /** What variables of the config stand for. Without it the config can be neither read nor changed over HTTP. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Override `gateway.host` and `gateway.port`. Port 0: any free one. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** False: platforms are not connected; replies to their chats wait for the next start. */
  readonly channels?: boolean | undefined;
  /** False: nothing is worked on, for commands that only look. */
  readonly work?: boolean | undefined;
  /** False: no HTTP server. */
  readonly http?: boolean | undefined;
  /** Where a local Ollama is looked for while no provider is configured. */
  readonly ollamaAddress?: string | undefined;
  /** The pause before a model is asked again, in ms; each further one is twice as long. Default 1000. */
  readonly modelRetryMs?: number | undefined;
  /** How long channels wait for their platform's word on a send. Default: each as it sees fit. */
  readonly sendTimeoutMs?: number | undefined;
  /** The pause before a send is tried again, in ms; each further one is twice as long. Default 1000. */
  readonly sendRetryMs?: number | undefined;
  /** Model providers beside those of the config; one goes before a configured one of its name. */
  readonly providers?: readonly Provider[] | undefined;
  /** Where session documents are, instead of where the config says. Closed with the gateway. */
  readonly storage?: StorageDriver | undefined;
  /** Unix ms: what counts as now for messages, days, schedules and what expires. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[] | undefined;
  /** Machines that run for each agent beside the built-in ones, on what happens to it. */
  readonly machines?: readonly Machine<unknown>[] | undefined;
  /** Reactors beside the built-in ones; each is started with a view that can only listen. */
  readonly reactors?: readonly Reactor[] | undefined;
  /** Platforms beside those of the config. */
  readonly platforms?: ((context: PlatformContext) => readonly Channel[]) | undefined;
  /** Opens another engine than the embedded one. */
  readonly openEngine?: OpenEngine | undefined;
  /**
   * Called with the name of each boundary of the engine and of the session documents that is passed, so that a test can
   * kill the process there.
   */
  readonly onBoundary?: HomeOptions["onBoundary"] | undefined;
}
