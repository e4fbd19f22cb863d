import type { Sql } from "../../support/postgres/sql.js";

/** Seconds since then, or until then, by the database's clock. */
const since = (time: string): string => `round(extract(epoch FROM clock_timestamp() - ${time})::numeric, 1)::float8`;
const until = (time: string): string => `round(extract(epoch FROM ${time} - clock_timestamp())::numeric, 1)::float8`;

/** What is asked, `@` before a name being the schema. */
const questions: Readonly<Record<string, string>> = {
  "work, with its job": `SELECT w.queue, w.key, w.id, w.node, w.attempts, w.crashes, w.points, ${since("w.began_at")} AS began_ago,
      ${until("w.not_before")} AS waits, j.state::text AS job, j.retry_count, ${since("j.heartbeat_on")} AS renewed_ago,
      ${until("j.start_after")} AS starts_in
    FROM @work w LEFT JOIN @job j ON j.name = w.queue AND j.id = w.job ORDER BY w.job`,
  "jobs without work": `SELECT j.name, j.id, j.singleton_key, j.state::text, ${since("j.heartbeat_on")} AS renewed_ago FROM @job j
    WHERE j.name IN ('inbound', 'outbound') AND NOT EXISTS (SELECT 1 FROM @work w WHERE w.job = j.id)`,
  leases: `SELECT name, holder, epoch::int, ${until("until")} AS lasts FROM @leases ORDER BY name`,
  nodes: `SELECT id, ${since("since")} AS there_for, ${since("seen")} AS seen_ago FROM @nodes ORDER BY since`,
  "parked updates and tasks": `SELECT kind, id, left(value, 200) AS value, ${since("changed")} AS changed_ago FROM @records
    WHERE value IS NOT NULL AND (id LIKE 'parked:%' OR kind = 'task')`,
  "dead letters": "SELECT queue, key, id, reason FROM @dead",
  "connections at work": `SELECT pid, state, wait_event_type, wait_event, ${since("state_change")} AS for_s, left(query, 120) AS query
    FROM pg_stat_activity WHERE application_name = 'maxclaw' AND state <> 'idle' AND query LIKE '%@%'`,
};

/** What waits in a cluster, in what state, who holds it: a line each. */
export async function describeDatabase(sql: Sql, schema: string): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [name, question] of Object.entries(questions)) {
    const rows = await sql.rows(question.replaceAll("@", `${schema}.`));
    if (rows.length > 0) lines.push(`${name}:`, ...rows.map((row) => `  ${JSON.stringify(row)}`));
  }
  return lines;
}
