import type { LongLane } from "../../engine.js";
import type { Database } from "../sql/database.js";

/** The lanes of messages in which at least so many wait, with what the first of each does. */
export async function findLongLanes(database: Database, least: number): Promise<readonly LongLane[]> {
  return await database.query<LongLane>(
    `SELECT l.key, l.waiting, w.accepted_at::float8 AS since, CASE
       WHEN w.node IS NOT NULL OR j.state = 'active' THEN 'works'
       WHEN w.points > 0 THEN 'suspect'
       WHEN w.not_before > now() THEN 'retries'
       ELSE 'waits' END AS state
     FROM (SELECT key, count(*)::float8 AS waiting FROM @work WHERE queue = 'inbound'
       GROUP BY key HAVING count(*) >= $1) l
     CROSS JOIN LATERAL (SELECT * FROM @work WHERE queue = 'inbound' AND key = l.key ORDER BY job LIMIT 1) w
     LEFT JOIN @job j ON j.name = 'inbound' AND j.id = w.job`,
    [least],
  );
}
