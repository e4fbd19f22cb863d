import { openWorking } from "./engine.js";
import type { MeasuredServer } from "./server.js";
import type { Table } from "./table.js";

const schemas = { defaults: "bench_plain", set: "bench_tuned" };
const tables = ["work", "job_common", "seen", "records", "sessions", "events"];
const steps = [0.2, 1];
const atOnce = 200;

/** How large the tables are after so many messages, with the server's own settings and with ours. */
export async function benchSizes(server: MeasuredServer, messages: number): Promise<Table> {
  const sizes = new Map<string, Map<string, number>[]>();
  for (const [name, schema] of Object.entries(schemas)) {
    {
      await using _engine = await openWorking(server.url, schema);
    }
    if (schema === schemas.defaults)
      for (const table of tables) {
        await server.sql.rows(`ALTER TABLE ${schema}.${table} RESET (fillfactor, autovacuum_vacuum_scale_factor,
          autovacuum_vacuum_threshold, autovacuum_analyze_scale_factor)`);
      }
    await server.sql.rows(procedure(schema));
    let done = 0;
    const measured: Map<string, number>[] = [];
    for (const share of steps) {
      // What a statement has done is known to autovacuum once it has ended.
      for (; done < messages * share; done += atOnce)
        await server.sql.rows(`CALL ${schema}.bench_traffic(${done}, ${done + atOnce - 1})`);
      measured.push(await sizesOf(server, schema));
    }
    sizes.set(name, measured);
  }
  const show = (bytes = 0): string => (bytes / 1e6).toFixed(1);
  const rows = tables.map((table) => [
    table,
    ...["defaults", "set"].flatMap((name) => (sizes.get(name) ?? []).map((at) => show(at.get(table)))),
  ]);
  const [first = 0, last = 0] = steps.map((share) => messages * share);
  const head = ["MB of", `${first} messages, defaults`, `${last}, defaults`, `${first} messages, set`, `${last}, set`];
  return { head, rows };
}

async function sizesOf({ sql }: MeasuredServer, schema: string): Promise<Map<string, number>> {
  const found = await sql.rows(
    "SELECT t, pg_total_relation_size(($1 || '.' || t)::regclass)::float8 AS bytes FROM unnest($2::text[]) t",
    [schema, tables],
  );
  return new Map(found.map(({ t, bytes }) => [String(t), Number(bytes)]));
}

/** The rows that a message adds, changes and deletes, for 1,000 chats of which a hundred wait at a time; ids older than a tenth of all are deleted as after a week. */
function procedure(schema: string): string {
  const s = schema;
  return `CREATE OR REPLACE PROCEDURE ${s}.bench_traffic(first bigint, last bigint) LANGUAGE plpgsql AS $$
    DECLARE n bigint; k text; j uuid; done uuid;
    BEGIN
      FOR n IN first .. last LOOP
        k := 'telegram:' || n % 1000;
        j := md5(n::text)::uuid;
        INSERT INTO ${s}.seen VALUES ('w:' || md5(n::text), now() + interval '7 days'), ('d:telegram:update:' || n, now() + interval '7 days');
        INSERT INTO ${s}.work (job, id, queue, key, session, body, bytes, accepted_at) VALUES (j, n, 'inbound', k, k, repeat('x', 600), 1600, n);
        INSERT INTO ${s}.job_common (id, name, singleton_key, policy, heartbeat_seconds, keep_until)
          VALUES (j, 'inbound', k || ' ' || n, 'key_strict_fifo', 10, now());
        FOR i IN 1 .. 5 LOOP
          INSERT INTO ${s}.sessions AS x (key, seq, time, xid) VALUES (k, 2, n, pg_current_xact_id())
            ON CONFLICT (key) DO UPDATE SET seq = x.seq + 2, time = n, xid = pg_current_xact_id();
          INSERT INTO ${s}.events (session, seq, id, type, time, body, xid)
            SELECT k, n * 10 + i * 2 + e, md5(n || ' ' || i || ' ' || e), 'agent_state_changed', n, repeat('y', 400), pg_current_xact_id()
            FROM generate_series(0, 1) e;
        END LOOP;
        UPDATE ${s}.work SET node = 'gw', began_at = now(), attempts = 1 WHERE job = j;
        UPDATE ${s}.job_common SET state = 'active', started_on = now() WHERE id = j AND name = 'inbound';
        UPDATE ${s}.job_common SET heartbeat_on = now() WHERE id = j AND name = 'inbound';
        INSERT INTO ${s}.records AS r (kind, id, value) VALUES (E'usage\n' || n % 16, 'day', '{"turns":1}')
          ON CONFLICT (kind, id) DO UPDATE SET value = r.value, version = r.version + 1, xid = pg_current_xact_id();
        done := md5((n - 100)::text)::uuid;
        DELETE FROM ${s}.work WHERE job = done;
        DELETE FROM ${s}.job_common WHERE id = done AND name = 'inbound';
        DELETE FROM ${s}.seen WHERE id IN ('w:' || md5((n - 5000)::text), 'd:telegram:update:' || n - 5000);
        IF n % 20 = 0 THEN COMMIT; END IF;
      END LOOP;
    END $$`;
}
