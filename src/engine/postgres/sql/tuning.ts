import type { Logger } from "../../../log.js";
import type { Database } from "./database.js";

/**
 * Rows of these tables are changed or deleted with each message. Space is made again before a fiftieth of a table is dead, not a
 * fifth.
 */
const vacuum =
  "autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_analyze_scale_factor = 0.05";
const settings: Readonly<Record<string, string>> = {
  work: vacuum,
  job_common: vacuum,
  sessions: vacuum,
  records: vacuum,
  seen: vacuum,
};

/** Sets them on tables for which nobody has set anything, where this user may. */
export async function tuneTables(database: Database, schema: string, log: Logger): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relname = ANY ($2::text[])
       AND reloptions IS NULL AND pg_has_role(relowner, 'USAGE')`,
    [schema, Object.keys(settings)],
  );
  for (const { name } of tables)
    try {
      await database.query(`ALTER TABLE @${name} SET (${settings[name]})`);
    } catch (error) {
      log.debug("a table keeps the settings of the database", { table: name, error });
    }
}
