import { join } from "node:path";
import { parseCommand } from "../agent/commands/chat-command.js";
import type { GatewayApi } from "../api/gateway-api.js";
import { createOperations } from "../api/operations.js";
import { repliesOf } from "../bus/replies.js";
import { readLedger } from "../engine/embedded/inspect/ledger.js";
import type { EventDraft } from "../events/event.js";
import { rootKeyOf } from "../events/session-key.js";
import { receivedFiles } from "../policy/places/zones.js";
import { createAnsweredReactor } from "../reactors/answered-questions.js";
import { createLiveAnswersReactor } from "../reactors/live-answers.js";
import { createLogReactor } from "../reactors/log-events.js";
import { createMetricsReactor } from "../reactors/metrics.js";
import type { Reactor } from "../reactors/reactor.js";
import { createTypingReactor } from "../reactors/typing.js";
import { messageTool } from "../tools/chat/message.js";
import { Releases } from "../util/async/releases.js";
import { createArtifacts } from "./artifacts.js";
import { type Assistant, openAssistant } from "./assistant.js";
import { chatCommands } from "./chat-commands.js";
import { createChatDirectory } from "./chats.js";
import { type Core, gatewayKey, openCore } from "./core.js";
import { tellOfDamage } from "./damage-notices.js";
import { DiskProbe } from "./disk-probe.js";
import { openExec } from "./exec.js";
import { startLanes } from "./lanes.js";
import { openMcp } from "./mcp.js";
import { startMemory } from "./memory.js";
import type { GatewayOptions } from "./options.js";
import { tellOwnersOfQuestions } from "./owner-notices.js";
import { openSchedule } from "./schedule.js";
import { createSettings } from "./settings.js";
import { createStatus } from "./status.js";
import { openTasks } from "./tasks.js";
import { createUploads } from "./uploads.js";
import { openWeb } from "./web.js";

/** All parts at work. Disposing drains them without grace. */
export interface Runtime extends AsyncDisposable {
  readonly api: GatewayApi;
  /** Where the door listens; empty without one. */
  readonly address: string;
  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  drain(graceMs: number): Promise<void>;
}

/** A growing answer is cut again with each look: no platform shows more than this in one message. */
const mostOfFirstPiece = 20_000;

/** What a door is opened with. */
export interface DoorPorts {
  readonly api: GatewayApi;
  /** Adds to the gateway's own log. */
  readonly tell: (event: EventDraft) => void;
  /** Aborts when the gateway stops. */
  readonly signal: AbortSignal;
}

/** Opens one more way in than the channels, before the first turn runs. It is closed before anything behind it. */
export type OpenDoor = (ports: DoorPorts) => Promise<{ readonly address: string } & AsyncDisposable>;

/**
 * Builds every part from the config, runs them together and undoes them in reverse.
 *
 * @throws {EngineError} `locked` when another gateway holds the home or the workspace, `corrupt` for a damaged journal
 * @throws {ConfigError} when a folder cannot be used, and whatever the door throws
 */
export async function openRuntime(given: GatewayOptions, openDoor?: OpenDoor): Promise<Runtime> {
  const { config } = given.config;
  const { workspace, executionMode } = config.agents.defaults;
  const releases = new Releases(given.log);
  try {
    const options = config.extensions.length === 0 ? given : await withExtensions(given, releases);
    const core = await openCore(options, releases);
    const assistant = await openAssistant(options, core);
    const web = openWeb(options, core, releases);
    const exec = openExec(options, core, releases);
    const mcp = openMcp(options, core, releases);
    const status = createStatus(options, core, assistant, { web, exec, mcp });
    const tasks = openTasks(options, core, assistant, releases);
    const artifacts = createArtifacts({
      keptOf: (key) => core.files.kept(rootKeyOf(key)),
      whyFull: core.whyFull,
      folderOf: core.files.folder,
      log: options.log,
    });
    const probe = releases.use(new DiskProbe({ path: options.home, log: options.log }));
    const metrics = config.reactors.metrics ? createMetricsReactor() : undefined;
    const schedule = openSchedule(options, core, releases);
    const { resumeDeletions, ...operations } = createOperations({
      ...core,
      ...assistant,
      tasks,
      artifacts,
      bus: core.events,
      chooseModel: assistant.models.choose,
      schedule,
      owners: config.owners,
      isFreshStart: (content) => parseCommand(content)?.name === "new",
      status: status.read,
      diskProblem: () => probe.problem(),
      readLedger: () => readLedger(options.home, core.files.dir),
      systemKey: gatewayKey,
      policyConfig: { executionMode, rules: config.policy.rules.map(definedOnly) },
      workspace,
      uploads: createUploads({
        folder: join(workspace, ".uploads"),
        receivedOf: (key) => join(core.files.kept(key), receivedFiles),
        noteSender: (file, by) => core.provenance.senders.note(file, by),
        maxBytes: config.inbound.maxFileMegabytes * 1024 * 1024,
        log: options.log,
      }),
      metrics: () => metrics?.prometheusText() ?? "",
      now: options.now ?? Date.now,
      log: options.log,
    });
    const settings = createSettings(options, operations);
    const api = { ...operations, mcp: mcp.api, ...(settings === undefined ? {} : { settings }) };
    startReactors(options, core, assistant, metrics, releases);
    startMemory(options, core, assistant, releases);
    const forgetQuestions = tellOwnersOfQuestions(options, core, assistant);
    releases.defer(async () => forgetQuestions());
    const forgetDamage = tellOfDamage(options, core, assistant);
    releases.defer(async () => forgetDamage());
    if (config.heartbeat.enabled && options.work !== false) {
      const { startHeartbeat } = await import("./heartbeat.js");
      startHeartbeat(options, core, assistant, api, releases);
    }
    // Its sessions take nothing until it is through.
    const resumed = resumeDeletions();
    releases.defer(() => resumed);
    const stopping = new AbortController();
    const door =
      openDoor && releases.use(await openDoor({ api, tell: core.tell, signal: stopping.signal }), "HTTP server");
    const address = door?.address ?? "";
    await core.setAddress(address);
    const lanes = startLanes(options, core, assistant, status, {
      tools: [schedule.tool, messageTool(createChatDirectory(core, assistant)), ...web.tools, ...exec.tools],
      source: mcp.tools,
      commands: chatCommands(core, assistant, api, schedule),
      artifacts,
      tasks,
    });
    status.enter("ready");
    // Whoever waits for the gateway hears of it first.
    setImmediate(mcp.start);
    const parts = releases.move();
    return {
      api,
      address,
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

async function withExtensions(options: GatewayOptions, releases: Releases): Promise<GatewayOptions> {
  const { loadExtensions } = await import("./extensions/load.js");
  return await loadExtensions(options, releases);
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
      // What a sub-agent says reaches people through its parent alone.
      if (work === undefined || work.body.taskId !== undefined) return undefined;
      const begin = text.slice(0, mostOfFirstPiece);
      return repliesOf(channels.get(work.body.channel), work.body, turnId, begin, turnId)[0]?.body;
    };
    reactors.push(createLiveAnswersReactor({ channels, previews, firstPiece, log }));
  }
  for (const reactor of [...reactors, ...others]) {
    reactor.start(events);
    releases.defer(() => reactor.stop(), `reactor ${reactor.name}`);
  }
}
