import { join } from "node:path";
import { describeCommands, parseCommand } from "../../agent/commands/chat-command.js";
import type { Tasks } from "../../agent/tasks/tasks.js";
import type { Presence } from "../../api/attention/presence.js";
import { commandsOver, handleCommands } from "../../api/commands/handlers.js";
import type { GatewayApi } from "../../api/gateway-api.js";
import { createOperations } from "../../api/operations.js";
import { createToolsOperations, type ToolsPorts } from "../../api/policy/tools-operations.js";
import type { Status } from "../../api/status/status.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import type { Config } from "../../config/schema.js";
import { createUploads, type Uploads } from "../../inbound/uploads.js";
import { freshMask } from "../../log/mask.js";
import { createAddressPolicy, literalRefusal } from "../../policy/locations/addresses.js";
import { receivedFiles } from "../../policy/locations/zones.js";
import { jobOwnerOf } from "../../schedule/job-owner.js";
import type { Schedule } from "../../schedule/schedule.js";
import { openMarks } from "../../sessions/marks/marks.js";
import { UnreadCounts } from "../../sessions/marks/unread.js";
import { deletionKind, marksKind } from "../../sessions/record-kinds.js";
import type { Artifacts } from "../../tools/chat/artifacts.js";
import type { Releases } from "../../util/async/releases.js";
import { DiskProbe } from "../../util/files/disk-probe.js";
import type { Assistant } from "../assistant/assistant.js";
import { type Core, gatewayKey } from "../core/core.js";
import type { GatewayOptions } from "../options.js";
import type { Mcp } from "../tools/mcp.js";
import type { OpenedTools } from "../tools/tools.js";
import { retryPorts } from "../turns/retry-ports.js";
import { openAttention } from "./attention.js";
import { contextUseOf } from "./context-use.js";
import { createMcpSetup } from "./mcp-setup.js";
import { replay } from "./replay.js";
import { openSearch } from "./search.js";
import { createSettings } from "./settings.js";
import { createSystem } from "./system/system.js";

/** What the operations reach besides what is kept and who talks. */
export interface AtWork {
  readonly tasks: Tasks;
  readonly artifacts: Artifacts;
  readonly schedule: Schedule;
  readonly status: Status;
  readonly tools: OpenedTools;
  readonly mcp: Mcp;
  readonly metrics: (isReady: boolean) => string;
}

/** The gateway's operations, as HTTP and programs use them. */
export async function openOperations(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  { tasks, artifacts, schedule, status, tools, mcp, metrics }: AtWork,
  releases: Releases,
): Promise<{
  readonly api: GatewayApi;
  readonly presence: Presence;
  readonly resumeDeletions: () => Promise<void>;
}> {
  const { home, log, now = Date.now } = options;
  const { workspace } = options.config.config.agents.defaults;
  const { people, inbound, platforms, mind, live } = assistant;
  const probe = releases.use(new DiskProbe({ path: home, log }));
  const { resumeDeletions, ...operations } = createOperations({
    kept: {
      engine: core.engine,
      bus: core.events,
      sessions: core.sessions,
      lives: core.lives,
      snapshots: core.growing.snapshots,
      begunDeletions: await core.engine.records.open(deletionKind),
      ...(await openMarked(core, now)),
      search: openSearch(options, core, releases),
      lookedRuns: await core.engine.records.open("looked_run"),
      systemKey: gatewayKey,
    },
    work: { ...turnPorts(assistant), tasks, contextUse: contextUseOf(options, core, assistant, { tools, mcp }) },
    people: {
      pairing: people.pairing,
      devices: people.devices,
      invitations: people.invitations,
      grants: people.grants,
      questions: inbound.questions,
      answers: inbound.answers,
      policyConfig: () => policyOf(live.running, people.policy.problems),
    },
    intake: inbound.intake,
    files: { uploads: openUploads(options, core, live), transcribe: inbound.transcribe, artifacts },
    channels: platforms.channels,
    workspace,
    skills: mind.skills,
    memory: mind.ownerMemory,
    budgets: mind.budgets,
    jobs: {
      owners: people.owners,
      scheduler: () => schedule.scheduler(),
      ownerOf: (chat) => jobOwnerOf(chat, people.owners()),
    },
    gateway: {
      status: () => status.read(),
      state: () => status.state,
      diskProblem: () => probe.problem(),
      holdFiles: core.process.holdFiles,
      metrics,
      now,
      reachable: () => live.running.tools.web.fetch.allow,
      log,
    },
  });
  handleCommands(core.commands, operations);
  const attention = await openAttention(options, core, assistant, operations.inbox, releases);
  const system = createSystem(options, core, live, operations.status);
  const api = {
    ...operations,
    ...commandsOver(core.commands),
    ...toolOperations(options, core, assistant, { tools, mcp }),
    attention: attention.api,
    ...(system === undefined ? {} : { system }),
    ...createSettings(options, operations, assistant, {
      mcp: createMcpSetup(options, live, mcp.api, releases),
      logEvent: core.logEvent,
    }),
  };
  return { api, presence: attention.presence, resumeDeletions };
}

/** What can be done with turns and their messages. */
function turnPorts(assistant: Assistant) {
  return {
    running: assistant.inbound.running,
    sent: assistant.mind.sent,
    mask: freshMask(() => assistant.live.secrets),
    chooseModel: assistant.mind.models.choose,
    isFreshStart: (content: string) => parseCommand(content)?.name === "new",
    replay,
    retries: retryPorts(assistant),
    chatCommands: describeCommands(),
  };
}

/** The tools, and the servers that some of them come from. */
function toolOperations(
  options: GatewayOptions,
  { folders: { files } }: Core,
  { people, live }: Assistant,
  { tools, mcp }: Pick<AtWork, "tools" | "mcp">,
): Pick<GatewayApi, "tools" | "mcp"> {
  const ports: ToolsPorts = {
    tools: () => [...tools.web(), ...tools.tools],
    findForeign: (name) => mcp.tools?.find(name),
    decide: (use) => people.policy.mayUseTool(use),
    addressLimit: (url) => literalRefusal(createAddressPolicy(live.running.tools.web.fetch.allow), url),
    sandbox: tools.sandbox,
    workspace: options.config.config.agents.defaults.workspace,
    folderOf: (key) => files.folder(key),
  };
  return {
    tools: createToolsOperations(ports),
    mcp: mcp.api,
  };
}

/** What the owner has pinned, archived and read. It goes with its session. */
async function openMarked({ engine, lives }: Core, now: () => number) {
  const marks = await openMarks(await engine.records.open(marksKind), now);
  lives.onLeave("marks", (key) => marks.forget(key));
  return { marks, unread: new UnreadCounts(engine, marks) };
}

function openUploads(
  { config: { config }, log }: GatewayOptions,
  { folders: { files, provenance } }: Core,
  live: LiveConfig,
): Uploads {
  return createUploads({
    folder: join(config.agents.defaults.workspace, ".uploads"),
    receivedOf: (key) => join(files.kept(key), receivedFiles),
    noteSender: (file, by) => provenance.senders.note(file, by),
    maxBytes: () => live.running.inbound.maxFileMegabytes * 1024 * 1024,
    log,
  });
}

function policyOf({ agents, policy }: Config, problems: readonly string[]) {
  return {
    executionMode: agents.defaults.executionMode,
    rules: policy.rules.map(definedOnly),
    problems: problems.filter((problem) => problem.startsWith("policy.rules")),
  };
}

/** A rule as it was written. */
function definedOnly(rule: object): Record<string, string> {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
}
