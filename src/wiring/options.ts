import type { LoadedConfig } from "../config/load.js";
import type { Logger } from "../log.js";
import type { Tool } from "../tools/tool.js";

export interface GatewayOptions {
  readonly config: LoadedConfig;
  readonly home: string;
  readonly log: Logger;
  readonly version: string;
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
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[] | undefined;
  /** Called with the name of each boundary of the engine that is passed, so that a test can kill the process there. */
  readonly onBoundary?: ((name: string) => void) | undefined;
}
