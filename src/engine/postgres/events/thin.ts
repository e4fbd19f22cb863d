import type { StoredEvent } from "../../../events/event.js";
import { terminalTypes } from "../../../events/sets.js";
import type { Logger } from "../../../log.js";
import { detailTypes, LeftOut, type ThinReport, type ThinSpan, withoutThinking } from "../../left-out.js";
import type { Database, Transaction } from "../sql/database.js";
import { type EventRow, toRow, toStored } from "./event-table.js";

const rowsAtOnce = 500;
const quoted = (types: Iterable<string>): string => [...types].map((type) => `'${type}'`).join(", ");

const changedSql = `SELECT key FROM @sessions WHERE key > $1 AND seq > deleted AND time >= $2 ORDER BY key LIMIT ${rowsAtOnce}`;
/** Behind the last old turn, and the first event that has something to leave out, as far as that can be seen from outside. */
const oldPartSql = `SELECT e.seq::float8 AS last, (SELECT min(d.seq) FROM @events d WHERE d.session = $1 AND d.seq <= e.seq
    AND (d.type IN (${quoted(detailTypes)}) OR d.type = 'assistant_message' AND d.body LIKE '%"thinking"%'))::float8 AS first
  FROM @events e WHERE e.session = $1 AND e.time < $2 AND e.type IN (${quoted(terminalTypes)}) ORDER BY e.seq DESC LIMIT 1`;

/** What of a session is stored in one step: up to an event that says how many before it are gone. */
interface Step {
  readonly gone: number[];
  readonly changed: EventRow[];
  freed: number;
}

/**
 * Leaves out of the logs that were written since a moment what only tells how their old turns went on: details, and the thinking in
 * answers. In small transactions, each of which leaves a log that is right. Only one node may do it at a time.
 */
export async function thinSessions(
  { database, log }: { readonly database: Database; readonly log: Logger },
  { sinceMs, beforeMs }: ThinSpan,
  signal: AbortSignal,
): Promise<ThinReport> {
  let freed = 0;
  let failed = 0;
  for (let after = ""; !signal.aborted; ) {
    const sessions = await database.query<{ key: string }>(changedSql, [after, Math.round(sinceMs)]);
    for (const { key } of sessions) {
      if (signal.aborted) break;
      try {
        freed += await thinSession(database, key, beforeMs, signal);
      } catch (error) {
        failed += 1;
        log.warn("old details stay in the log of a session", { session: key, error });
      }
    }
    after = sessions.at(-1)?.key ?? "";
    if (sessions.length < rowsAtOnce) break;
  }
  return { freed, failed };
}

async function thinSession(
  database: Database,
  sessionKey: string,
  beforeMs: number,
  signal: AbortSignal,
): Promise<number> {
  const [old] = await database.query<{ last: number; first: number | null }>(oldPartSql, [
    sessionKey,
    Math.round(beforeMs),
  ]);
  if (old?.first == null) return 0;
  const left = new LeftOut();
  let freed = 0;
  let step: Step = { gone: [], changed: [], freed: 0 };
  for (let after = old.first - 1; after < old.last && !signal.aborted; ) {
    const rows = await database.query<EventRow>(
      `SELECT session, seq::float8, id, type, time::float8, dropped::float8, body FROM @events
       WHERE session = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT ${rowsAtOnce}`,
      [sessionKey, after, old.last],
    );
    for (const row of rows) {
      const isWhole = take(toStored(row), row, left, step);
      if (!isWhole || step.gone.length + step.changed.length < rowsAtOnce) continue;
      freed += await write(database, sessionKey, step);
      step = { gone: [], changed: [], freed: 0 };
    }
    after = rows.at(-1)?.seq ?? old.last;
  }
  // The last event of the old part ends a turn, so nothing is left out behind the last one that says so.
  if (signal.aborted) return freed;
  return freed + (await write(database, sessionKey, step));
}

/** True when the step may end behind this event. */
function take(event: StoredEvent, row: EventRow, left: LeftOut, step: Step): boolean {
  if (detailTypes.has(event.type)) {
    left.add(event);
    step.gone.push(row.seq);
    step.freed += row.body.length;
    return false;
  }
  const kept = left.mend(withoutThinking(event));
  if (kept === event) return true;
  const changed = toRow(kept);
  step.changed.push(changed);
  step.freed += row.body.length - changed.body.length;
  return true;
}

async function write(database: Database, sessionKey: string, { gone, changed, freed }: Step): Promise<number> {
  if (gone.length + changed.length === 0) return 0;
  await database.transaction(async (tx: Transaction) => {
    await tx.query("DELETE FROM @events WHERE session = $1 AND seq = ANY ($2::bigint[])", [sessionKey, gone]);
    await tx.query(
      `UPDATE @events e SET dropped = d.dropped, body = d.body
       FROM unnest($2::bigint[], $3::bigint[], $4::text[]) d (seq, dropped, body) WHERE e.session = $1 AND e.seq = d.seq`,
      [
        sessionKey,
        changed.map(({ seq }) => seq),
        changed.map(({ dropped }) => dropped),
        changed.map(({ body }) => body),
      ],
    );
  });
  return freed;
}
