import type { GatewayApi } from "../api/gateway-api.js";
import type { Config } from "../config/schema.js";
import type { EventDraft } from "../events/event.js";
import { rootKeyOf } from "../events/session-key.js";
import { type Artifacts, createArtifacts } from "../tools/chat/artifacts.js";
import { Releases } from "../util/async/releases.js";
import { type Assistant, openAssistant } from "./assistant/assistant.js";
import type { Channels } from "./assistant/channels.js";
import { openSharedTurns } from "./assistant/cluster.js";
import type { HeartbeatPorts } from "./background/heartbeat.js";
import { startMemory } from "./background/memory.js";
import { startNotices } from "./background/notices.js";
import { startOldDetails } from "./background/old-details.js";
import { startPassingOn } from "./background/pass-on.js";
import { openReactors } from "./background/reactors.js";
import { startRetries } from "./background/retries.js";
import { openSchedule } from "./background/schedule.js";
import { openTasks } from "./background/tasks.js";
import { openTelemetry } from "./background/telemetry.js";
import { type Core, openCore } from "./core/core.js";
import { followConfig, followPart, openLiveConfig } from "./live/live.js";
import { openOperations } from "./operations/operations.js";
import { configChanged } from "./operations/settings.js";
import { openStatus } from "./operations/status.js";
import { type GatewayOptions, isWorking } from "./options.js";
import { openMcp } from "./tools/mcp.js";
import { openTools } from "./tools/tools.js";
import { chatCommands } from "./turns/chat-commands.js";
import { Lanes } from "./turns/lanes.js";

/** All parts at work. Disposing drains them without grace. */
export interface Runtime extends AsyncDisposable {
  readonly api: GatewayApi;
  /** Where the door listens; empty without one. */
  readonly address: string;
  /** Takes nothing new and lets turns and replies finish for `graceMs`; what is left goes on at the next start. */
  drain(graceMs: number): Promise<void>;
}

/** What a door is opened with. */
export interface DoorPorts {
  readonly api: GatewayApi;
  /** Adds to the gateway's own log. */
  readonly logEvent: (event: EventDraft) => void;
  /** Who takes what comes to `/hooks/<name>`. */
  readonly hookOf: Channels["webhooks"]["find"];
  /** Its section of the config, as it is now. */
  readonly settings: () => Config["gateway"];
  /** Aborts when the gateway stops. */
  readonly signal: AbortSignal;
}

/** One more way in, while it is open. */
export interface Door extends AsyncDisposable {
  readonly address: string;
  /** What the owner has to know of who comes. */
  problems?(): readonly string[];
}

/** Doors, and what they ask, read these whenever they need them. */
const liveOfDoors = ["basePath", "trustedProxies", "publicUrl", "sessionDays"].map((key) => `gateway.${key}`);

/** Opens one more way in than the channels, before the first turn runs. It is closed before anything behind it. */
export type OpenDoor = (ports: DoorPorts) => Promise<Door>;

/**
 * Builds every part from the config, runs them together and undoes them in reverse.
 *
 * @throws {EngineError} `locked` when another gateway holds the home or the workspace, `corrupt` for a damaged journal
 * @throws {ConfigError} when a folder cannot be used, and whatever the door throws
 */
export async function openRuntime(given: GatewayOptions, openDoor?: OpenDoor): Promise<Runtime> {
  const releases = new Releases(given.log);
  try {
    // Channels must not wait for what nobody can bring.
    return await open(openDoor === undefined ? { ...given, http: false } : given, releases, openDoor);
  } catch (error) {
    await releases[Symbol.asyncDispose]();
    throw error;
  }
}

async function open(given: GatewayOptions, releases: Releases, openDoor: OpenDoor | undefined): Promise<Runtime> {
  const options = given.config.config.extensions.length === 0 ? given : await withExtensions(given, releases);
  const live = openLiveConfig(options);
  const core = await openCore(options, releases, live);
  const assistant = await openAssistant(options, core, live);
  await openSharedTurns(options, core, assistant.inbound, releases);
  const { schedule, reports } = await openSchedule(options, core, assistant, releases);
  const tools = openTools(options, core, assistant, schedule, releases);
  const mcp = openMcp(options, core, assistant, releases);
  const doors: Door[] = [];
  live.own({ sections: liveOfDoors, apply: () => {} });
  const status = openStatus(options, core, assistant, { tools, mcp, doors });
  const tasks = await openTasks(options, core, assistant, releases);
  const artifacts = openArtifacts(options, core);
  const spans = await openTelemetry(options, core, live, releases);
  const reactors = openReactors(options, core, assistant, { status, spans }, releases);
  const { metricsText: metrics, onModelAnswered } = reactors;
  const atWork = { tasks, artifacts, schedule, status: status.status, tools, mcp, metrics };
  const { api, presence, resumeDeletions } = await openOperations(options, core, assistant, atWork, releases);
  reactors.start();
  await startMemory(options, core, assistant, releases);
  await startOldDetails(options, core, releases);
  startNotices(options, core, assistant, releases);
  await startPassingOn(options, core, assistant, presence, releases);
  await startRetries(options, core, assistant, releases);
  const beats = { reports, deleteSession: api.deleteSession };
  await followHeartbeat(options, core, assistant, beats, releases);
  // Its sessions take nothing until it is through.
  const resumed = resumeDeletions();
  releases.defer(() => resumed);
  const stopping = new AbortController();
  const hookOf: DoorPorts["hookOf"] = (name) => assistant.platforms.webhooks.find(name);
  const ports = { api, hookOf, logEvent: core.logEvent, settings: () => live.running.gateway, signal: stopping.signal };
  const door = openDoor && releases.use(await openDoor(ports), "HTTP server");
  if (door !== undefined) doors.push(door);
  const address = door?.address ?? "";
  core.process.setAddress(options.runs?.work === false ? "" : address);
  const commands = chatCommands(core, assistant, api, schedule);
  const hands = {
    tools: tools.tools,
    changing: tools.web,
    source: mcp.tools,
    commands,
    artifacts,
    tasks,
    onModelAnswered,
  };
  const lanes = new Lanes(options, core, assistant, status, hands);
  await followConfig(options, assistant.live, releases);
  live.follow((names) => core.logEvent(configChanged(names, "gateway")));
  status.status.enter("ready");
  // Anyone who waits for the gateway hears about it first.
  setImmediate(mcp.start);
  const parts = releases.move();
  return {
    api,
    address,
    drain: (graceMs) => lanes.drain(graceMs),
    async [Symbol.asyncDispose]() {
      await lanes.drain(0);
      stopping.abort(new DOMException("The gateway is stopping", "AbortError"));
      await parts[Symbol.asyncDispose]();
    },
  };
}

async function withExtensions(options: GatewayOptions, releases: Releases): Promise<GatewayOptions> {
  const { loadExtensions } = await import("./extensions/load.js");
  return await loadExtensions(options, releases);
}

function openArtifacts({ log }: GatewayOptions, { folders: { files, whyFull } }: Core): Artifacts {
  return createArtifacts({ keptOf: (key) => files.kept(rootKeyOf(key)), whyFull, folderOf: files.folder, log });
}

async function followHeartbeat(
  options: GatewayOptions,
  core: Core,
  assistant: Assistant,
  ports: HeartbeatPorts,
  releases: Releases,
): Promise<void> {
  if (!isWorking(options)) return;
  await followPart(options, assistant.live, ["heartbeat"], releases, async ({ heartbeat }, parts) => {
    if (!heartbeat.enabled) return;
    const { startHeartbeat } = await import("./background/heartbeat.js");
    await startHeartbeat(options, core, assistant, ports, heartbeat, parts);
  });
}
