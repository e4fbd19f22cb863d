import { join } from "node:path";
import type { LoadedConfig } from "../../config/load.js";
import { acquireLocks } from "../../engine/embedded/locking/lock.js";
import type { HomeOptions, OpenedHome } from "../../engine/embedded/open-home.js";
import type { Engine } from "../../engine/engine.js";
import { loadPostgres } from "../../engine/postgres/load-packages.js";
import type { PostgresEngineOptions } from "../../engine/postgres/options.js";
import type { PostgresEngine } from "../../engine/postgres/postgres-engine.js";
import { ConfigError } from "../../errors.js";
import { assertNoConversations, markCluster, readClusterMark } from "../../offline/engine/cluster-mark.js";
import { Releases } from "../../util/async/releases.js";

type ClusterHomeOptions = Pick<
  HomeOptions,
  "home" | "sessionsDir" | "instanceId" | "publish" | "logs" | "onLocked" | "openEngine" | "log" | "now" | "onBoundary"
>;

/** An engine that several nodes share. */
type SharedEngine = Engine & Pick<PostgresEngine, "clusterId" | "lastSequences" | "thinLogs">;

/**
 * Opens the engine that the config names, for a gateway that is one node of several. The home is this node's own, the
 * workspace is shared: no node keeps the others away from it.
 *
 * @throws {ConfigError} the config names no database, this Node is too old, a package is missing, or the files belong elsewhere
 * @throws {EngineError} `locked` when another process holds the home; whatever opening the engine throws
 */
export async function openClusterHome(options: ClusterHomeOptions, config: LoadedConfig): Promise<OpenedHome> {
  const { home, sessionsDir, onLocked, openEngine, ...engineOptions } = options;
  const { url, schema } = settingsOf(config);
  const open =
    openEngine === undefined
      ? await prepareOpening(home)
      : async () => assertShared(await openEngine({ ...engineOptions, home }));
  await using releases = new Releases(options.log);
  const [lock] = await acquireLocks([join(home, "gateway.lock")], options.log);
  releases.defer(() => lock?.release(), "lock of the home");
  onLocked();
  assertNoConversations(sessionsDir);
  const clusterId = (readClusterMark(home) ?? readClusterMark(sessionsDir))?.cluster;
  const engine = releases.use(await open({ ...engineOptions, url, schema, clusterId }), "engine");
  await markCluster({ home, sessionsDir }, { cluster: engine.clusterId, schema });
  const parts = releases.move();
  return {
    engine,
    assertHeld: () => lock?.assertHeld(),
    setAddress: (address) => lock?.setAddress(address, options.instanceId),
    recentSessions: () => [],
    lastSequences: () => engine.lastSequences(),
    thinLogs: (span, signal) => engine.thinLogs(span, signal),
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

/** Finds what is missing before anything is held. */
async function prepareOpening(
  home: string,
): Promise<(options: Omit<PostgresEngineOptions, "modules">) => Promise<SharedEngine>> {
  const { openPostgresEngine } = await import("../../engine/postgres/open.js");
  const modules = await loadPostgres(home);
  return (options) => openPostgresEngine({ ...options, modules });
}

/** @throws {ConfigError} */
function assertShared(engine: Engine): SharedEngine {
  if ("clusterId" in engine && "lastSequences" in engine && "thinLogs" in engine) return engine as SharedEngine;
  throw new ConfigError("engine.kind is postgres, and openEngine gives an engine that nodes cannot share");
}

/** @throws {ConfigError} */
function settingsOf({ config, off }: LoadedConfig): { readonly url: string; readonly schema: string } {
  const { url, schema } = config.engine;
  if (url !== undefined) return { url, schema };
  const why = off.find(({ section }) => section === "engine")?.reason ?? "engine.url is not set";
  throw new ConfigError(
    `${why}. The gateway does not start: with another engine it would accept messages that the others never see. Correct it: maxclaw config check`,
  );
}
