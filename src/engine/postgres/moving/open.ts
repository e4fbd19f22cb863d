import { EngineError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { sleep } from "../../../util/async/sleep.js";
import { openJobs } from "../lanes/open-jobs.js";
import { defaultTiming, type PostgresEngineOptions } from "../options.js";
import { Database } from "../sql/database.js";
import { toFault } from "../sql/faults.js";
import { assertSchemaName, migrate } from "../sql/migrate.js";
import { PostgresSource } from "./source.js";
import { readMoving, writeMoving } from "./state.js";
import { PostgresTarget } from "./target.js";

export interface MovingOptions {
  readonly modules: PostgresEngineOptions["modules"];
  readonly url: string;
  readonly schema: string;
  /** Names the home on the other side. */
  readonly id: string;
  readonly home: string;
  readonly log: Logger;
}

/** A node that lives shows itself more often. */
const nodeShowsMs = 2.5 * defaultTiming.renewMs;

/** Opens a schema to move everything of a home into it. Creates it where it is missing. @throws {EngineError} */
export async function openTarget(options: MovingOptions): Promise<PostgresTarget> {
  const { modules, schema, id, home, log } = options;
  return await withDatabase(options, async (database) => {
    const jobs = await openJobs({ modules, database, schema, instanceId: "gw_moving", timing: defaultTiming, log });
    try {
      const moving = { direction: "in", id, home, isDone: false } as const;
      return await PostgresTarget.open({ database, jobs, schema, moving });
    } catch (error) {
      await jobs.close();
      throw error;
    }
  });
}

/**
 * Opens a schema to move everything in it into the files of a home. From now on no gateway starts with it; `isTrial`: nothing is
 * changed.
 *
 * @throws {EngineError} also where a gateway works with it
 */
export async function openSource(
  options: MovingOptions & { readonly isTrial: boolean },
  signal: AbortSignal,
): Promise<{ readonly source: PostgresSource; readonly done: () => Promise<void> }> {
  const { schema, id, home, isTrial } = options;
  return await withDatabase(options, async (database) => {
    const before = await readMoving(database);
    if (before !== undefined && !(before.direction === "out" ? before.id === id : before.isDone))
      throw new EngineError(
        before.direction === "out"
          ? `The schema ${schema} was moved to ${before.home} before, or that has begun. Its conversations are there.`
          : `The schema ${schema} is only half filled: the move from ${before.home} has not ended.`,
        { kind: "corrupt" },
      );
    const moving = { direction: "out", id, home } as const;
    // First, so that none begins while it is looked for.
    if (!isTrial) await writeMoving(database, { ...moving, isDone: false });
    try {
      await assertNobodyWorks(database, schema, signal);
    } catch (error) {
      await writeMoving(database, before);
      throw error;
    }
    return {
      source: new PostgresSource(database),
      done: () => writeMoving(database, { ...moving, isDone: true }),
    };
  });
}

async function withDatabase<T>(options: MovingOptions, use: (database: Database) => Promise<T>): Promise<T> {
  const { modules, url, schema } = options;
  assertSchemaName(schema);
  const database = new Database({ pg: modules.pg, url, schema, connections: 3, idleMs: 600_000, onChange: () => {} });
  try {
    await migrate(database, { schema });
    return await use(database);
  } catch (error) {
    await database.close();
    throw toFault(error, "The engine's database cannot be used");
  }
}

async function assertNobodyWorks(database: Database, schema: string, signal: AbortSignal): Promise<void> {
  const look = async (): Promise<ReadonlyMap<string, string>> => {
    const rows = await database.query<{ id: string; seen: string }>("SELECT id, seen::text FROM @nodes");
    return new Map(rows.map(({ id, seen }) => [id, seen]));
  };
  const before = await look();
  if (before.size === 0) return;
  await sleep(nodeShowsMs, signal);
  for (const [id, seen] of await look())
    if (before.get(id) !== seen)
      throw new EngineError(`A gateway works with the schema ${schema} (${id}). Stop all of them first.`, {
        kind: "locked",
      });
}
