import { median } from "../measure.js";
import { type Cost, costOf, openWorking } from "./engine.js";
import type { MeasuredServer } from "./server.js";
import { type Table, twoDigits } from "./table.js";

const messages = 200;

/** What a message costs beside so many others that were there before. The two are measured in turns. */
export async function benchSessions(
  server: MeasuredServer,
  rounds: number,
  made: { readonly sessions: number; readonly events: number },
): Promise<Table> {
  const few = { schema: "bench_few", sessions: 100, events: 2000 };
  const many = { schema: "bench_many", ...made };
  const worlds = [few, many];
  for (const { schema, sessions, events } of worlds) {
    // It makes the tables, and sees nothing of what is put into them.
    await (await openWorking(server.url, schema))[Symbol.asyncDispose]();
    await fill(server, schema, sessions, events);
  }
  const costs = new Map<string, Cost[]>();
  for (let round = 0; round < rounds; round += 1)
    for (const { schema, sessions } of worlds) {
      await using engine = await openWorking(server.url, schema);
      // Spread over all there are, so that what they need is in no cache of ours.
      const keys = Array.from({ length: messages }, (_, n) => `telegram:${(n * 7919 + round * 31) % sessions}`);
      await costOf(engine, server, keys.slice(0, 30), `warm ${round}`);
      const cost = await costOf(engine, server, keys, `round ${round}`);
      costs.set(schema, [...(costs.get(schema) ?? []), cost]);
    }
  const rows: string[][] = [];
  for (const { schema, sessions, events } of worlds) {
    const own = costs.get(schema) ?? [];
    const of = (key: keyof Cost): number => median(own.map((cost) => cost[key]));
    const ratio = median(
      own.map((cost, n) => cost.postgresCpuMs / (costs.get(few.schema)?.[n]?.postgresCpuMs ?? Number.NaN)),
    );
    const [size] = await server.sql.rows(
      `SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
       WHERE nspname = $1 AND relkind = 'r'`,
      [schema],
    );
    rows.push([
      ...[sessions.toLocaleString("en"), events.toLocaleString("en"), String(size?.size)],
      ...[twoDigits(of("nodeCpuMs")), twoDigits(of("postgresCpuMs")), twoDigits(ratio)],
      ...[of("statements").toFixed(1), of("walKb").toFixed(1)],
    ]);
  }
  const head = [
    "sessions",
    "events",
    "on disk",
    "CPU of the node, ms",
    "CPU of Postgres, ms",
    "ratio",
    "statements",
    "WAL, kB",
  ];
  return { head, rows };
}

/** As much as so many messages leave behind: events of 600 bytes, and the ids of a week. */
async function fill({ sql }: MeasuredServer, schema: string, sessions: number, events: number): Promise<void> {
  const each = Math.floor(events / sessions);
  await sql.rows(
    `INSERT INTO ${schema}.sessions (key, seq, time, xid)
     SELECT 'telegram:' || n, ${each}, 1750000000000 + n, pg_current_xact_id() FROM generate_series(0, ${sessions - 1}) n`,
  );
  await sql.rows(
    `INSERT INTO ${schema}.events (session, seq, id, type, time, body, xid)
     SELECT 'telegram:' || s, n, 'evt_' || md5(s || ' ' || n), CASE n % 5 WHEN 0 THEN 'user_message_queued'
       WHEN 4 THEN 'turn_execution_complete' ELSE 'agent_state_changed' END, 1750000000000 + n, repeat(md5(s || ' ' || n), 19),
       pg_current_xact_id()
     FROM generate_series(0, ${sessions - 1}) s, generate_series(1, ${each}) n`,
  );
  await sql.rows(
    `INSERT INTO ${schema}.seen (id, until) SELECT 'w:made ' || n, now() + interval '7 days' FROM generate_series(1, ${events / 10}) n`,
  );
  // As a server does by itself soon after.
  for (const table of ["sessions", "events", "seen"]) await sql.rows(`VACUUM ANALYZE ${schema}.${table}`);
  await sql.rows("CHECKPOINT");
}
