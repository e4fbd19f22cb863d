import type { AttentionApi } from "./attention/attention-api.js";
import type { ChatCommandsApi } from "./chat-commands-api.js";
import type { CommandsApi } from "./commands/commands-api.js";
import type { CronApi } from "./cron-api.js";
import type { DeadLettersApi } from "./dead-letters.js";
import type { FilesApi } from "./files/files-api.js";
import type { InboxApi } from "./inbox/inbox-api.js";
import type { McpApi } from "./mcp-api.js";
import type { MemoryApi } from "./memory/memory-api.js";
import type { EventsApi } from "./messages/events-api.js";
import type { MessagesApi } from "./messages/messages-api.js";
import type { DevicesApi } from "./policy/devices-api.js";
import type { PairingsApi } from "./policy/pairings-api.js";
import type { PolicyApi } from "./policy/policy-api.js";
import type { ToolsApi } from "./policy/tools-api.js";
import type { SessionsApi } from "./sessions/sessions-api.js";
import type { SettingsApi } from "./settings/settings-api.js";
import type { SetupApi } from "./settings/setup-api.js";
import type { KnownSkillsApi, SkillsApi } from "./skills-api.js";
import type { StatusApi } from "./status/status-api.js";
import type { SystemApi } from "./system-api.js";
import type { TurnsApi } from "./turns/turns-api.js";

/**
 * What the gateway can be asked to do; used by HTTP, WebSocket, the command line and the library. Anyone who calls acts
 * as an owner: the caller has checked the token or the loopback rule. Methods throw {@link RequestError} for wrong
 * requests and {@link EngineError} when something cannot be stored.
 */
export interface GatewayApi
  extends CommandsApi,
    ChatCommandsApi,
    SessionsApi,
    TurnsApi,
    MessagesApi,
    EventsApi,
    FilesApi,
    PolicyApi,
    PairingsApi,
    KnownSkillsApi,
    StatusApi {
  /** Switches and installs skills. */
  readonly skills: SkillsApi;

  /** The scheduled jobs. */
  readonly cron: CronApi;
  readonly memory: MemoryApi;

  /** Messages and replies that were given up. */
  readonly dead: DeadLettersApi;

  /** Browsers that are signed in. */
  readonly devices: DevicesApi;

  /** Everything that waits for a person. */
  readonly inbox: InboxApi;

  /** Who looks at the page, and what is pushed to those who do not. */
  readonly attention?: AttentionApi;

  /** The servers that tools come from, where there can be some. */
  readonly mcp?: McpApi;

  /** The tools that the model has, and what policy says about them. */
  readonly tools?: ToolsApi;

  /** The config, and files that steer the assistant, for a page of settings. */
  readonly settings?: SettingsApi;

  /** What is set up step by step, where the config is a file. */
  readonly setup?: SetupApi;

  /** The machine, the log and backups, for who looks after the gateway. */
  readonly system?: SystemApi;
}
