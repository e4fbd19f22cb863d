import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createMessageBus, type MessageBus } from "../bus/message-bus.js";
import { acquireLock } from "../engine/embedded/lock.js";
import { openEmbeddedEngine } from "../engine/embedded/open.js";
import type { Engine } from "../engine/engine.js";
import { ConfigError, messageOf } from "../errors.js";
import type { EventDraft } from "../events/event.js";
import { systemKey } from "../events/session-key.js";
import { openStreamSnapshots, type StreamSnapshots } from "../events/stream-snapshots.js";
import { createSystemBus, type EventConsumer } from "../events/system-bus.js";
import { createSessionFiles, type SessionFiles } from "../sessions/file-names.js";
import { SessionStore } from "../sessions/session-store.js";
import { newId } from "../util/ids.js";
import type { Releases } from "../util/releases.js";
import { keepGatewayLogSmall } from "./gateway-log.js";
import type { GatewayOptions } from "./options.js";

/** The session of the gateway's own events. */
export const gatewayKey = systemKey("local");

/** What keeps messages and events. */
export interface Core {
  readonly engine: Engine;
  readonly events: EventConsumer;
  readonly sessions: SessionStore;
  readonly files: SessionFiles;
  readonly snapshots: StreamSnapshots;
  readonly messages: MessageBus;
  readonly instanceId: string;
  readonly setAddress: (address: string) => Promise<void>;
  /** Adds to the gateway's own log. */
  readonly tell: (event: EventDraft) => void;
}

export async function openCore(options: GatewayOptions, releases: Releases): Promise<Core> {
  const {
    home,
    config: { config },
    log,
    onBoundary,
  } = options;
  const { workspace } = config.agents.defaults;
  const sessionsDir = join(workspace, ".sessions");
  await makeFolder(home);
  await makeFolder(sessionsDir);
  const lock = await acquireLock(join(home, "gateway.lock"), log);
  releases.defer(() => lock.release());
  const workspaceLock = await acquireLock(join(sessionsDir, ".lock"), log);
  releases.defer(() => workspaceLock.release());

  const bus = createSystemBus({ log });
  releases.defer(() => bus.destroy());
  const events = bus.asConsumer();
  const files = createSessionFiles(sessionsDir);
  const instanceId = newId("gw");
  const gatewayLog = join(home, "gateway.events.jsonl");
  const engine = releases.use(
    await openEmbeddedEngine({
      home,
      instanceId,
      log,
      publish: (event) => bus.emit(event),
      ...(onBoundary === undefined ? {} : { onBoundary }),
      sessionLogPath: (key) => (key === gatewayKey ? gatewayLog : files.logPath(key)),
    }),
  );
  releases.use(await keepGatewayLogSmall({ engine, key: gatewayKey, path: gatewayLog, log }));
  const snapshots = releases.use(openStreamSnapshots(events, { ttlMs: config.events.snapshotTtlSeconds * 1000 }));
  const sessions = releases.use(new SessionStore({ engine, bus: events, files, log }));
  return {
    engine,
    events,
    sessions,
    files,
    snapshots,
    messages: createMessageBus(engine),
    instanceId,
    setAddress: async (address) => lock.setAddress(address),
    tell: (event) =>
      void engine.append(gatewayKey, [event], { durable: false }).catch((error: unknown) => {
        log.warn(`The gateway's own log was not written: ${messageOf(error)}`);
      }),
  };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ConfigError(`The folder ${path} cannot be created: ${messageOf(error)}. Check its owner and the disk.`, {
      cause: error,
    });
  }
}
