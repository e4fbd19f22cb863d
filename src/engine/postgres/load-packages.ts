import { z } from "zod";
import { ConfigError } from "../../errors.js";
import { isNotInstalled } from "../../util/not-installed.js";
import { loadPackage } from "../../util/packages/load.js";
import { packageOptions, whyNodeTooOld } from "../../util/packages/options.js";
import type { PostgresEngineOptions } from "./options.js";

type Modules = PostgresEngineOptions["modules"];

const isFunction = (value: unknown): boolean => typeof value === "function";
const pgModule = z.object({
  Pool: z.custom<Modules["pg"]["Pool"]>(isFunction),
  Client: z.custom<Modules["pg"]["Client"]>(isFunction),
});
const bossModule = z.object({ PgBoss: z.custom<Modules["boss"]["PgBoss"]>(isFunction) });

/** What `maxclaw add postgres` has installed. @throws {ConfigError} this Node is too old, or a package is missing */
export async function loadPostgres(home: string): Promise<Modules> {
  const tooOld = whyNodeTooOld(packageOptions.postgres ?? {});
  if (tooOld !== undefined) throw new ConfigError(`The engine on PostgreSQL cannot be used. ${tooOld}`);
  try {
    const [pg, boss] = await Promise.all([loadPackage("pg", home), loadPackage("pg-boss", home)]);
    return { pg: pgModule.parse(pg), boss: bossModule.parse(boss) };
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    throw new ConfigError(
      "The packages of the engine on PostgreSQL are not installed. Install them with: maxclaw add postgres",
      { cause: error },
    );
  }
}
