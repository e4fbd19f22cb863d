import type { Channel, PlatformContext } from "../channels/channel.js";
import type { LoadedConfig } from "../config/load.js";
import type { HomeOptions, OpenEngine } from "../engine/embedded/open-home.js";
import type { Machine } from "../events/machines/input.js";
import type { Logger } from "../log.js";
import type { Provider } from "../providers/provider.js";
import type { Reactor } from "../reactors/reactor.js";
import type { StorageDriver } from "../sessions/storage/storage.js";
import type { Tool } from "../tools/tool.js";

/** What a gateway is opened with. */
export interface GatewayOptions {
  readonly config: LoadedConfig;
  readonly home: string;
  readonly log: Logger;
  readonly version: string;
  /** What variables of the config stand for. Without it the config can be neither read nor changed over HTTP. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where to listen, instead of what the config says. False: no HTTP server. */
  readonly http?: Listen | false | undefined;
  readonly runs?: Runs | undefined;
  /** Besides what the config names. */
  readonly added?: Additions | undefined;
  readonly pauses?: Pauses | undefined;
  /** Unix ms: what counts as now for messages, days, schedules and what expires. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Opens the engine, instead of what `engine.kind` names: with `postgres` one that several nodes share. */
  readonly openEngine?: OpenEngine | undefined;
  /**
   * Called with the name of each boundary of the engine and of the session documents that is passed, so that a test can
   * kill the process there.
   */
  readonly onBoundary?: HomeOptions["onBoundary"] | undefined;
}

/** Instead of `gateway.host` and `gateway.port`. */
export interface Listen {
  readonly host?: string | undefined;
  /** 0: any free one. */
  readonly port?: number | undefined;
}

/** What a gateway does by itself. All of it, where nothing else is said. */
export interface Runs {
  /** False: platforms are not connected; replies to their chats wait for the next start. */
  readonly channels?: boolean | undefined;
  /** False: nothing is worked on, for the length of a command. Other commands do not find such a gateway. */
  readonly work?: boolean | undefined;
}

/** What extensions add, and programs that have the gateway as a library. */
export interface Additions {
  /** Model providers; one goes before a configured one of its name. */
  readonly providers?: readonly Provider[] | undefined;
  /** Where session documents are, instead of where the config says. Closed with the gateway. */
  readonly storage?: StorageDriver | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Machines that run for each agent besides the built-in ones, on what happens to it. */
  readonly machines?: readonly Machine<unknown>[] | undefined;
  /** Each is started with a view that can only listen. */
  readonly reactors?: readonly Reactor[] | undefined;
  readonly platforms?: ((context: PlatformContext) => readonly Channel[]) | undefined;
  /** Why some of what the config names was left out; grows while the gateway runs. */
  readonly problems?: readonly string[] | undefined;
}

/** How long the far side is waited for, in ms. */
export interface Pauses {
  /** Before a model is asked again; each further one is twice as long. Default 1000. */
  readonly modelRetryMs?: number | undefined;
  /** Before a provider that was down is asked whether it answers; each further one is twice as long. Default 5000. */
  readonly providerCheckMs?: number | undefined;
  /** How long channels wait for their platform's word on a send. Default: each as it sees fit. */
  readonly sendTimeoutMs?: number | undefined;
  /** Before a send is tried again; each further one is twice as long. Default 1000. */
  readonly sendRetryMs?: number | undefined;
}

export function isWorking({ runs }: Pick<GatewayOptions, "runs">): boolean {
  return runs?.work !== false;
}
