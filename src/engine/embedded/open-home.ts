import { join } from "node:path";
import { Releases } from "../../util/async/releases.js";
import type { Engine } from "../engine.js";
import type { HeldFiles } from "../held-files.js";
import type { OldDetails } from "../old-details.js";
import { EmbeddedEngine } from "./embedded-engine.js";
import { claimHomeFormat } from "./home-format.js";
import { acquireLocks } from "./locking/lock.js";
import { keepLogSmall } from "./logs/small-log.js";
import { openEmbeddedEngine } from "./open.js";
import type { EmbeddedEngineOptions } from "./options.js";
import { toStartFailure } from "./start-failure.js";

/** Opens an engine on files that nobody else writes meanwhile. */
export type OpenEngine = (options: EmbeddedEngineOptions) => Promise<Engine>;

export interface HomeOptions extends Omit<EmbeddedEngineOptions, "lock"> {
  /** Holds the session logs and documents. */
  readonly sessionsDir: string;
  /** The session that the gateway itself writes to as long as it lives: its log is kept small. */
  readonly ownKey: string;
  /** Called once nobody else can change the files, and before any is read. What it throws ends the opening. */
  readonly onLocked: () => void;
  /** Default: the embedded one. */
  readonly openEngine?: OpenEngine | undefined;
}

/** An engine, and what it has to do with the files of this machine. */
export interface OpenedHome extends AsyncDisposable {
  readonly engine: Engine;
  /** Throws when another process may write the files too. */
  readonly assertHeld: () => void;
  /** Where this process answers, for commands on this machine. */
  readonly setAddress: (address: string) => void;
  /** See {@link EmbeddedEngine.recentSessions}. */
  readonly recentSessions: () => readonly string[];
  /** Every session, and up to where its log reaches: where other nodes write too. */
  readonly lastSequences?: (() => Promise<ReadonlyMap<string, number>>) | undefined;
  /** See {@link EmbeddedEngine.holdFiles}. Absent where the truth is not files. */
  readonly holdFiles?: (() => Promise<HeldFiles>) | undefined;
  /** See {@link EmbeddedEngine.thinLogs}. Absent where the truth is not files. */
  readonly thinLogs?: OldDetails["thin"] | undefined;
}

/**
 * Keeps every other process away from the home and the sessions, and opens the engine that lives in them. Both folders
 * are there.
 *
 * @throws {EngineError} `locked` when another process holds one of them; whatever opening the engine throws
 */
export async function openHome(options: HomeOptions): Promise<OpenedHome> {
  const { sessionsDir, ownKey, onLocked, openEngine = openEmbeddedEngine, ...engineOptions } = options;
  const { home, instanceId, log } = engineOptions;
  await using releases = new Releases(log);
  const locks = await acquireLocks([join(home, "gateway.lock"), join(sessionsDir, ".lock")], log);
  releases.defer(() => {
    for (const lock of locks) lock.release();
  }, "locks of the home and the workspace");
  onLocked();
  try {
    claimHomeFormat(home);
  } catch (error) {
    throw toStartFailure(home, error);
  }
  const assertHeld = (): void => {
    for (const lock of locks) lock.assertHeld();
  };
  const isTakenOver = locks.some(({ isFromLease }) => isFromLease);
  const engine = releases.use(await openEngine({ ...engineOptions, lock: { assertHeld, isTakenOver } }), "engine");
  const isEmbedded = engine instanceof EmbeddedEngine;
  if (isEmbedded)
    releases.use(await keepLogSmall({ engine, key: ownKey, path: options.logs.pathOf(ownKey), log }), "own log");
  const parts = releases.move();
  return {
    engine,
    assertHeld,
    setAddress: (address) => locks[0]?.setAddress(address, instanceId),
    recentSessions: isEmbedded ? () => engine.recentSessions() : () => [],
    ...(isEmbedded
      ? { holdFiles: () => engine.holdFiles(), thinLogs: (span, signal) => engine.thinLogs(span, signal) }
      : {}),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}
