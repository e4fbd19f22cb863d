import { join } from "node:path";
import type { LoadedConfig } from "../../config/load.js";
import { acquireLocks } from "../../engine/embedded/locking/lock.js";
import type { HomeOptions, OpenedHome } from "../../engine/embedded/open-home.js";
import { loadPostgres } from "../../engine/postgres/load-packages.js";
import { ConfigError } from "../../errors.js";
import { assertNoConversations, markCluster, readClusterMark } from "../../offline/engine/cluster-mark.js";
import { Releases } from "../../util/async/releases.js";

type ClusterHomeOptions = Pick<
  HomeOptions,
  "home" | "sessionsDir" | "instanceId" | "publish" | "onLocked" | "log" | "now" | "onBoundary"
>;

/**
 * Opens the engine that the config names, for a gateway that is one node of several. The home is this node's own, the
 * workspace is shared: no node keeps the others away from it.
 *
 * @throws {ConfigError} the config names no database, this Node is too old, a package is missing, or the files belong elsewhere
 * @throws {EngineError} `locked` when another process holds the home; whatever opening the engine throws
 */
export async function openClusterHome(options: ClusterHomeOptions, config: LoadedConfig): Promise<OpenedHome> {
  const { home, sessionsDir, onLocked, ...engineOptions } = options;
  const { url, schema } = settingsOf(config);
  const { openPostgresEngine } = await import("../../engine/postgres/open.js");
  const modules = await loadPostgres(home);
  await using releases = new Releases(options.log);
  const [lock] = await acquireLocks([join(home, "gateway.lock")], options.log);
  releases.defer(() => lock?.release(), "lock of the home");
  onLocked();
  assertNoConversations(sessionsDir);
  const clusterId = (readClusterMark(home) ?? readClusterMark(sessionsDir))?.cluster;
  const engine = releases.use(
    await openPostgresEngine({ ...engineOptions, modules, url, schema, clusterId }),
    "engine",
  );
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

/** @throws {ConfigError} */
function settingsOf({ config, off }: LoadedConfig): { readonly url: string; readonly schema: string } {
  const { url, schema } = config.engine;
  if (url !== undefined) return { url, schema };
  const why = off.find(({ section }) => section === "engine")?.reason ?? "engine.url is not set";
  throw new ConfigError(
    `${why}. The gateway does not start: with another engine it would accept messages that the others never see. Correct it: maxclaw config check`,
  );
}
