import type { Logger } from "../../../log.js";
import type { Boss, BossDb } from "../modules.js";
import type { PostgresEngineOptions, Timing } from "../options.js";
import type { Database } from "../sql/database.js";
import { GuardedDb } from "../sql/guarded-db.js";
import { Jobs } from "./jobs.js";

export interface JobsOptions {
  readonly modules: PostgresEngineOptions["modules"];
  readonly database: Database;
  readonly schema: string;
  readonly instanceId: string;
  readonly timing: Required<Timing>;
  readonly log: Logger;
}

/** Opens the queues of pg-boss. Creates or updates their tables where they are missing or older. */
export async function openJobs({ modules, database, schema, instanceId, timing, log }: JobsOptions): Promise<Jobs> {
  const open = (db: BossDb, migrate: boolean): Boss => {
    const boss = new modules.boss.PgBoss({
      ...{ db, schema, migrate, supervise: false, schedule: false, reindex: false, createSchema: false },
      superviseIntervalSeconds: 1,
      monitorIntervalSeconds: 1,
    });
    boss.on("error", ({ message }) => log.debug("pg-boss could not do something", { message }));
    boss.on("warning", ({ message }) => log.warn(`the queues in the database: ${message}`));
    return boss;
  };
  const guarded = new GuardedDb(database, instanceId, timing);
  const jobs = new Jobs(open(database.db, true), open(guarded, false), guarded);
  await jobs.open(timing.claimMs);
  if (timing.claimMs < 10_000)
    await database.query("UPDATE @queue SET heartbeat_seconds = $1", [Math.ceil(timing.claimMs / 1000)]);
  return jobs;
}
