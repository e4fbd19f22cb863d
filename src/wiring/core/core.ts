import { join } from "node:path";
import type { CommandResults } from "../../api/commands/commands-api.js";
import { createMessageBus, type MessageBus } from "../../bus/message-bus.js";
import { type NodeCallPorts, NodeCalls } from "../../bus/node-calls.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import { type HomeOptions, type OpenedHome, openHome } from "../../engine/embedded/open-home.js";
import type { Engine } from "../../engine/engine.js";
import { ConfigError, EngineError, messageOf } from "../../errors.js";
import type { CommandAsker, CommandTaker } from "../../events/bus/commands.js";
import { HeldPieces } from "../../events/bus/held-pieces.js";
import { ownEvents } from "../../events/bus/own-events.js";
import { createSystemBus, type EventConsumer, type EventProducer } from "../../events/bus/system-bus.js";
import type { EventDraft, GatewayEvent } from "../../events/event.js";
import { openStreamSnapshots, type StreamSnapshots } from "../../events/folds/stream-snapshots.js";
import { systemKey } from "../../events/session-key.js";
import { SessionLives } from "../../events/session-lives.js";
import type { Logger } from "../../log.js";
import { assertNoCluster } from "../../offline/engine/cluster-mark.js";
import { assertMoved } from "../../offline/engine/note.js";
import { assertRestored, removeLeftovers } from "../../offline/unfinished.js";
import { shownSequence } from "../../sessions/document/document-file.js";
import {
  createSessionFiles,
  gatewayLogName,
  logsIn,
  logsMarkPath,
  type SessionFiles,
} from "../../sessions/file-names.js";
import { SessionStore } from "../../sessions/session-store.js";
import { GuardedStorage } from "../../sessions/storage/guarded.js";
import type { StorageDriver } from "../../sessions/storage/storage.js";
import { createWhyFull, type WhyFull } from "../../tools/folder-usage.js";
import { type Alone, alreadyAlone } from "../../util/async/alone.js";
import type { Releases } from "../../util/async/releases.js";
import { makeFolder } from "../../util/files/make-folder.js";
import { systemSentence } from "../../util/files/system-fault.js";
import { newId } from "../../util/ids.js";
import type { GatewayOptions } from "../options.js";
import { holdingLease, underLease } from "../turns/under-lease.js";
import { folderLimitsOf } from "./folder-limits.js";
import { openProvenance, type Provenance } from "./labels.js";
import { compareConfigs } from "./same-config.js";
import { type OpenedStorage, openStorage } from "./storage.js";

/** The session of the gateway's own events. */
export const gatewayKey = systemKey("local");

/** The sessions' folders: where they are, how much they may hold, and where what is in them came from. */
export interface SessionFolders {
  readonly files: SessionFiles;
  readonly provenance: Provenance;
  readonly whyFull: WhyFull;
}

/** Answers while they are written. */
export interface GrowingAnswers {
  readonly snapshots: StreamSnapshots;
  readonly pieces: HeldPieces;
}

/** This process among those that use the same home. */
export interface GatewayProcess {
  readonly instanceId: string;
  readonly setAddress: (address: string) => void;
  readonly holdFiles?: OpenedHome["holdFiles"];
  readonly thinLogs?: OpenedHome["thinLogs"];
  /** Other nodes work on the same messages. */
  readonly isClustered: boolean;
  /** Undefined where there are none. */
  readonly nodes: NodeCalls | undefined;
  /** Does what only one node may do at a time, until `signal` aborts: here, or in the node that goes on with it. */
  readonly alone: (name: string, work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;
  /** Changes a file of the workspace that is read before it is written, while no other node changes one. */
  readonly withSharedFiles: Alone;
}

/** What keeps messages and events. */
export interface Core {
  readonly engine: Engine;
  readonly events: EventConsumer;
  /** Only those of this process: for what is done once about an event. */
  readonly ownEvents: EventConsumer;
  /** What clients ask, over whichever transport. */
  readonly commands: CommandAsker<CommandResults> & CommandTaker<CommandResults>;
  readonly sessions: SessionStore;
  /** What goes on for each session, so that a deletion can end it. */
  readonly lives: SessionLives;
  /** One sentence while session documents cannot be stored, or not where the config says. */
  readonly storageProblem: () => string | undefined;
  readonly folders: SessionFolders;
  readonly growing: GrowingAnswers;
  readonly messages: MessageBus;
  readonly process: GatewayProcess;
  /** Adds to the gateway's own log. */
  readonly logEvent: (event: EventDraft) => void;
}

export async function openCore(
  options: GatewayOptions,
  releases: Releases,
  live: Pick<LiveConfig, "running">,
): Promise<Core> {
  const { home, config: loaded, log, onBoundary, now } = options;
  const { config } = loaded;
  const sessionsDir = join(config.agents.defaults.workspace, ".sessions");
  await ownFolder(home);
  await ownFolder(sessionsDir);
  const bus = createSystemBus<CommandResults>({ log });
  releases.defer(() => bus.destroy(), "event bus");
  const events = bus.asConsumer();
  const producer = bus.asProducer();
  const documentsDir = isClustered(options) ? join(home, "documents") : sessionsDir;
  await ownFolder(documentsDir);
  const files = createSessionFiles(documentsDir, sessionsDir);
  const instanceId = newId("gw");
  const opened = releases.use(await lockAndOpen(options, { sessionsDir, files, instanceId, publish: producer.emit }));
  const { engine, assertHeld, recentSessions, lastSequences, holdFiles, thinLogs, setAddress } = opened;
  const snapshots = releases.use(openStreamSnapshots(events, { ttlMs: config.events.snapshotTtlSeconds * 1000 }));
  const { problem, ...storage } = await storageOf(options);
  const sessions = releases.use(
    new SessionStore({
      engine,
      bus: events,
      files,
      log,
      changed: { recentSessions, shared: lastSequences && { instanceId, lastSequences } },
      onBoundary,
      assertHeld,
      ...dateOf(now),
      ...storage,
    }),
    "sessions",
  );
  // A storage elsewhere may have been away when the last gateway stopped.
  if (storage.storage !== undefined) void sessions.catchUp();
  const provenance = openProvenance(sessionsDir, now ?? Date.now);
  events.on("session_state_changed", ({ session_key, payload: { to } }) => {
    if (to === "deleted") provenance.files.forget(files.folder(session_key));
  });
  const hasOthers = isClustered(options);
  if (hasOthers) await compareConfigs(engine, { instanceId, config, sessionsDir, log });
  return {
    engine,
    events,
    ownEvents: hasOthers ? ownEvents(events, instanceId) : events,
    commands: { request: bus.request, handle: bus.handle },
    sessions,
    lives: new SessionLives(log),
    folders: { files, provenance, whyFull: createWhyFull(folderLimitsOf(() => live.running)) },
    storageProblem: () => problem ?? sessions.storageProblem(),
    growing: { snapshots, pieces: new HeldPieces(hasOthers ? forAllNodes(producer) : producer) },
    messages: createMessageBus(engine),
    process: {
      ...{ instanceId, setAddress, holdFiles, thinLogs, isClustered: hasOthers },
      nodes: hasOthers ? openNodeCalls(releases, { engine, events, instanceId, log }) : undefined,
      alone: (name, work, signal) => (hasOthers ? underLease(engine, name, work, { signal, log }) : work(signal)),
      withSharedFiles: hasOthers ? holdingLease(engine, "shared-files") : alreadyAlone,
    },
    logEvent: (event) =>
      void engine.append(gatewayKey, [event], { durable: false }).catch((error: unknown) => {
        // What parts say about their own end comes after the end of the log.
        const isOver = error instanceof EngineError && error.kind === "closed";
        log[isOver ? "debug" : "warn"](`The gateway's own log was not written: ${messageOf(error)}`);
      }),
  };
}

interface HomeParts {
  readonly sessionsDir: string;
  readonly files: SessionFiles;
  readonly instanceId: string;
  readonly publish: (event: GatewayEvent) => void;
}

/** The engine, once no other gateway works in these folders. @throws {EngineError} */
async function lockAndOpen(options: GatewayOptions, parts: HomeParts): Promise<OpenedHome> {
  const { home, config, log, onBoundary, now, openEngine } = options;
  const { files, ...given } = parts;
  const { workspace } = config.config.agents.defaults;
  const common = { home, ...given, log, ...(onBoundary && { onBoundary }), ...(now && { now }) };
  const gatewayLog = join(home, gatewayLogName);
  const logs: HomeOptions["logs"] = {
    pathOf: (key) => (key === gatewayKey ? gatewayLog : files.logPath(key)),
    all: () => [gatewayLog, ...logsIn(parts.sessionsDir)],
    mark: logsMarkPath(parts.sessionsDir),
    shownSeq: (key) => (key === gatewayKey ? 0 : shownSequence(files.documentPath(key))),
  };
  if (isClustered(options)) {
    const { openClusterHome } = await import("./cluster-home.js");
    return await openClusterHome(
      { ...common, logs, openEngine, onLocked: () => assertUsable(home, [home], log) },
      config,
    );
  }
  return await openHome({
    ...common,
    ownKey: gatewayKey,
    openEngine,
    onLocked() {
      assertUsable(home, [home, workspace], log);
      assertNoCluster([parts.sessionsDir, home]);
    },
    logs,
  });
}

/** `own`: the folders that no other gateway uses. */
function assertUsable(home: string, own: readonly string[], log: Logger): void {
  assertMoved(home);
  assertRestored(home);
  removeLeftovers(own, log);
}

/** The nodes of a cluster share the folders of sessions; documents are what each of them makes of the events for itself. */
function isClustered({ config }: Pick<GatewayOptions, "config">): boolean {
  return config.config.engine.kind !== "embedded";
}

function openNodeCalls(releases: Releases, ports: NodeCallPorts): NodeCalls {
  const calls = new NodeCalls(ports);
  releases.defer(() => calls[Symbol.dispose](), "calls of nodes");
  return calls;
}

/** Who listens at another node is not known here. */
function forAllNodes(producer: EventProducer): EventProducer {
  return { ...producer, isAwaited: () => true };
}

async function storageOf(options: GatewayOptions): Promise<OpenedStorage> {
  const { added, config, home, log } = options;
  const { storage } = config.config;
  if (added?.storage !== undefined) return ownStorage(added.storage, log);
  if (!isClustered(options) || ["file", "memory"].includes(storage.driver)) return await openStorage(storage, home);
  return {
    problem: `storage.driver is ${storage.driver}, and engine.kind is ${config.config.engine.kind}: each gateway keeps session documents as files of its own, because a storage has room for those of one gateway. Take storage.driver out.`,
  };
}

function ownStorage(storage: StorageDriver, log: Logger): OpenedStorage {
  return { storage: new GuardedStorage(storage, { log }), storageId: "given" };
}

function dateOf(now: GatewayOptions["now"]): { readonly now?: () => Date } {
  return now === undefined ? {} : { now: () => new Date(now()) };
}

async function ownFolder(path: string): Promise<void> {
  try {
    await makeFolder(path);
  } catch (error) {
    throw new ConfigError(systemSentence(error) ?? `The folder ${path} cannot be created: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
