import { inbound } from "../../../test/support/engine/engine-kit.js";
import { postgresModules } from "../../../test/support/postgres/postgres-kit.js";
import type { Sql } from "../../../test/support/postgres/sql.js";
import { openWorking } from "./engine.js";
import type { MeasuredServer } from "./server.js";
import { type Table, twoDigits } from "./table.js";

const claims = 60;
const schema = "bench_lanes";

/** What taking work costs while so many lanes wait. */
export async function benchLanes(server: MeasuredServer, counts: readonly number[]): Promise<Table> {
  const rows: string[][] = [];
  await using engine = await openWorking(server.url, schema);
  let waiting = 0;
  for (const count of counts) {
    for (; waiting < count; waiting += 500)
      await Promise.all(
        Array.from({ length: Math.min(500, count - waiting) }, (_, n) =>
          engine.accept(inbound(`lane ${waiting + n}`, `telegram:${waiting + n}`), { events: [] }),
        ),
      );
    waiting = count;
    const one = await claimed(server, 1);
    const many = await claimed(server, 16);
    rows.push([count.toString(), twoDigits(one.ms), twoDigits(one.plan), twoDigits(many.ms), one.pages.toFixed(0)]);
  }
  return { head: ["lanes that wait", "claim of 1, ms", "of it planning", "claim of 16, ms", "pages for 1"], rows };
}

/** The statement of pg-boss as it runs, undone each time so that as much waits for the next one. */
async function claimed({ sql, dearest }: MeasuredServer, most: number) {
  const statement = await claimSql(sql, most);
  await sql.rows(`ANALYZE ${schema}.job_common`);
  await dearest(0);
  for (let n = 0; n < claims; n += 1) {
    await sql.rows("BEGIN");
    await sql.rows(statement);
    await sql.rows("ROLLBACK");
  }
  const [found] = await sql.rows(
    `SELECT mean_exec_time + mean_plan_time AS ms, mean_plan_time AS plan, shared_blks_hit::float8 / calls AS pages
     FROM pg_stat_statements WHERE query LIKE '%strict_fifo_heads%' ORDER BY calls DESC LIMIT 1`,
  );
  return { ms: Number(found?.ms), plan: Number(found?.plan), pages: Number(found?.pages) };
}

/** What pg-boss would run, which is not run. */
async function claimSql(sql: Sql, most: number): Promise<string> {
  const { boss } = await postgresModules();
  let statement = "";
  const executeSql = async (text: string, values?: readonly unknown[]) => {
    if (!text.includes("strict_fifo_heads")) return { rows: await sql.rows(text, values) };
    statement = text;
    return { rows: [] };
  };
  const options = { schema, migrate: false, supervise: false, schedule: false, createSchema: false };
  const claiming = new boss.PgBoss({ db: { executeSql }, ...options });
  await claiming.start();
  await claiming.fetch("inbound", { batchSize: most, includeMetadata: true });
  await claiming.stop({ graceful: false, close: false });
  return statement;
}
