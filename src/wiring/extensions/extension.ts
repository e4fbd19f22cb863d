import type { z } from "zod";
import type { Channel, PlatformContext } from "../../channels/channel.js";
import type { ChannelError, ProviderError, StorageError } from "../../errors.js";
import type { Machine } from "../../events/machines/input.js";
import type { Logger } from "../../log.js";
import type { Provider } from "../../providers/provider.js";
import type { Reactor } from "../../reactors/reactor.js";
import type { StorageDriver } from "../../sessions/storage/storage.js";
import type { Tool } from "../../tools/tool.js";
import type { ChannelKit } from "./channel-kit.js";

/** Default of its `effect` is `write`, of its `risk` `call`: each call asks a person. */
export type ExtensionTool<S extends z.ZodType = z.ZodType> = Omit<Tool<S>, "effect" | "risk" | "origin"> &
  Partial<Pick<Tool<S>, "effect" | "risk" | "origin">>;

/** What a module that the config names adds to the gateway. All of it can be left out. */
export interface Extension {
  readonly tools?: readonly ExtensionTool[];
  /**
   * Platforms, at once and not as a promise; who may talk there is decided as everywhere: owners, and who was paired. A
   * channel takes `context.forChannel(<its name>)`.
   */
  readonly channels?: (context: PlatformContext) => readonly Channel[];
  /** `model: "<name>/<model>"` chooses one. */
  readonly providers?: readonly Provider[];
  /** Where session documents are, instead of what the config says. */
  readonly storage?: StorageDriver;
  readonly machines?: readonly Machine<unknown>[];
  readonly reactors?: readonly Reactor[];
  /** Called once as the gateway stops, after everything that uses it. */
  readonly dispose?: () => Promise<void> | void;
}

export interface ExtensionContext {
  /** As they are in the config, with `${NAME}` filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly home: string;
  readonly workspace: string;
  readonly log: Logger;
  /** zod, for the inputs of tools: a module beside the config has no packages of its own. */
  readonly z: typeof z;
  /** As {@link defineTool}, for a tool of an extension: `run` knows the type of its input. */
  readonly defineTool: <S extends z.ZodType>(tool: ExtensionTool<S>) => ExtensionTool<S>;
  /**
   * Cuts Markdown into pieces of at most `limit` (64 or more), for the `split` of a channel: between paragraphs where
   * possible; a code block that is cut is closed and opened again. `measure` counts, default: the characters.
   */
  readonly splitMarkdown: (text: string, limit: number, measure?: (piece: string) => number) => readonly string[];
  /** What the built-in channels are made of. */
  readonly channelKit: ChannelKit;
  /** What channels, providers and storages throw, so that the gateway knows whether to try again. */
  readonly errors: {
    readonly ChannelError: typeof ChannelError;
    readonly ProviderError: typeof ProviderError;
    readonly StorageError: typeof StorageError;
  };
}

/** The default export of an extension's module. */
export type ExtensionFactory = (context: ExtensionContext) => Extension | Promise<Extension>;

/** Gives a module's factory its types while it is written; does nothing else. */
export function defineExtension(factory: ExtensionFactory): ExtensionFactory {
  return factory;
}
