import { dirname, join } from "node:path";
import { ConfigWatch } from "../../config/live/config-watch.js";
import { LiveConfig } from "../../config/live/live-config.js";
import { loadConfig } from "../../config/load.js";
import type { Config } from "../../config/schema.js";
import { Releases } from "../../util/async/releases.js";
import type { GatewayOptions } from "../options.js";

/** The config of a gateway; without `env` it is not one of a file, and stays as it is. */
export function openLiveConfig({ config, home, env, log }: GatewayOptions): LiveConfig {
  if (env === undefined) return new LiveConfig({ opened: config, log });
  const { path } = config;
  // One of the home may go, or be made; another one that somebody has named must be there.
  const configPath = path === undefined || dirname(path) === home ? undefined : path;
  return new LiveConfig({ opened: config, load: () => loadConfig({ home, configPath, env }), log });
}

/**
 * Begins a part with the config that counts, and again with each other one that differs in these sections, once what it
 * had before has ended.
 */
export async function followPart(
  { log }: Pick<GatewayOptions, "log">,
  live: LiveConfig,
  sections: readonly string[],
  releases: Releases,
  start: (config: Config, parts: Releases) => Promise<void>,
): Promise<void> {
  let atWork = new Releases(log);
  await start(live.running, atWork);
  releases.defer(() => atWork[Symbol.asyncDispose]());
  live.own({
    sections,
    async apply(next) {
      await atWork[Symbol.asyncDispose]();
      atWork = new Releases(log);
      await start(next, atWork);
    },
  });
}

/** From now on changes of the file are taken over. */
export async function followConfig(
  { config, home, env }: GatewayOptions,
  live: LiveConfig,
  releases: Releases,
): Promise<void> {
  if (env === undefined) return;
  const path = config.path ?? join(home, "config.json");
  const files = [path, join(home, "config.json"), join(home, "config.yaml"), join(home, "secrets.json")];
  const onChange = async (): Promise<void> => {
    await live.look();
  };
  releases.use(await ConfigWatch.open({ files: [...new Set(files)], onChange }));
  // It may have changed while the gateway started.
  await live.look();
}
