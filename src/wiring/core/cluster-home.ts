import { join } from "node:path";
import { z } from "zod";
import type { LoadedConfig } from "../../config/load.js";
import { acquireLocks } from "../../engine/embedded/locking/lock.js";
import type { HomeOptions, OpenedHome } from "../../engine/embedded/open-home.js";
import type { openPostgresEngine } from "../../engine/postgres/open.js";
import { ConfigError } from "../../errors.js";
import { Releases } from "../../util/async/releases.js";
import { isNotInstalled } from "../../util/not-installed.js";
import { loadPackage } from "../../util/packages/load.js";
import { packageOptions, whyNodeTooOld } from "../../util/packages/options.js";
import { assertNoConversations, markCluster, readClusterMark } from "./cluster-mark.js";

type EngineOptions = Parameters<typeof openPostgresEngine>[0];
type ClusterHomeOptions = Pick<
  HomeOptions,
  "home" | "sessionsDir" | "instanceId" | "publish" | "onLocked" | "log" | "now" | "onBoundary"
>;

const isFunction = (value: unknown): boolean => typeof value === "function";
const pgModule = z.object({
  Pool: z.custom<EngineOptions["modules"]["pg"]["Pool"]>(isFunction),
  Client: z.custom<EngineOptions["modules"]["pg"]["Client"]>(isFunction),
});
const bossModule = z.object({ PgBoss: z.custom<EngineOptions["modules"]["boss"]["PgBoss"]>(isFunction) });

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
  const modules = await loadModules(home);
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

/** @throws {ConfigError} */
async function loadModules(home: string): Promise<EngineOptions["modules"]> {
  const tooOld = whyNodeTooOld(packageOptions.postgres ?? {});
  if (tooOld !== undefined) throw new ConfigError(`engine.kind is postgres. ${tooOld}`);
  try {
    const [pg, boss] = await Promise.all([loadPackage("pg", home), loadPackage("pg-boss", home)]);
    return { pg: pgModule.parse(pg), boss: bossModule.parse(boss) };
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    throw new ConfigError(
      "engine.kind is postgres, and its packages are not installed. Install them with: maxclaw add postgres",
      { cause: error },
    );
  }
}
