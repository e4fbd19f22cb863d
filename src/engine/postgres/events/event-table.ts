import { specOf } from "../../../events/catalogue.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { deepFreeze } from "../../../util/deep-freeze.js";
import { frozenCopy } from "../../frozen-copy.js";
import { toEvent } from "../../to-event.js";
import type { CarefulSql, Database, Sql } from "../sql/database.js";
import type { Statement } from "../sql/statement.js";

/** Events of a session that a transaction has stored. */
export interface StoredBatch {
  /** One for each draft: an earlier event where the id was known. */
  readonly events: readonly StoredEvent[];
  /** Those that are new, in the order of their numbers. */
  readonly added: readonly StoredEvent[];
}

/** An event as it is in its row. */
export interface EventRow {
  readonly session: string;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly time: number;
  readonly dropped: number | null;
  readonly body: string;
}

/** The numbers that a session has given, as a statement gives them. */
interface Numbered {
  readonly key: string;
  readonly seq: number;
  /** The time of the event before these. */
  readonly before: number;
  readonly deleted: number;
}

/** What a statement gives that adds events. */
export interface AddedRow {
  readonly sessions?: readonly Numbered[] | null;
}

const columns = "session, seq::float8, id, type, time::float8, dropped::float8, body";

/** Events for one session. */
export interface Addition {
  readonly sessionKey: string;
  readonly drafts: readonly EventDraft[];
}

/** Unix ms of an event, which is not older than those that this node has published of the session. */
export type TimeOf = (sessionKey: string, draft: EventDraft) => number;

export interface AddOptions {
  readonly afterSeq?: number | undefined;
  readonly timeOf: TimeOf;
}

/** Where the next event of a session goes. */
interface Next {
  seq: number;
  time: number;
  readonly deleted: number;
}

/** The logs of the sessions. */
export class EventTable {
  readonly #parts: { readonly instanceId: string; readonly log: Logger };

  constructor(parts: { readonly instanceId: string; readonly log: Logger }) {
    this.#parts = parts;
  }

  /**
   * Makes a statement add events to sessions, in the order given. Gives how its result is read: one batch for each addition.
   *
   * @throws {TypeError} for an event that is never stored, before anything is written
   */
  async addTo(
    statement: Statement,
    sql: CarefulSql,
    additions: readonly Addition[],
    { afterSeq = 0, timeOf }: AddOptions,
  ): Promise<(row: AddedRow | undefined) => readonly StoredBatch[]> {
    for (const { drafts } of additions) for (const draft of drafts) assertStored(draft);
    const readers: ((next: ReadonlyMap<string, Next>) => StoredBatch)[] = [];
    const all: { readonly key: string; readonly draft: EventDraft; readonly time: number }[] = [];
    const counts = new Map<string, { count: number; time: number }>();
    for (const { sessionKey: key, drafts } of additions) {
      const { fresh, known } = await this.#lookAt(sql, key, drafts, counts.has(key));
      const added = fresh.map((draft) => ({ key, draft, time: Math.round(timeOf(key, draft)) }));
      all.push(...added);
      const before = counts.get(key) ?? { count: 0, time: 0 };
      const time = Math.max(before.time, ...added.map((one) => one.time));
      if (added.length > 0) counts.set(key, { count: before.count + added.length, time });
      readers.push((next) => {
        const events = added.flatMap(({ draft, time }) => this.#next(key, draft, next.get(key), time));
        const byId = new Map([...known, ...events.map((event) => [event.event_id, event] as const)]);
        return { events: drafts.flatMap(({ event_id: id }) => byId.get(id) ?? []), added: events };
      });
    }
    if (all.length > 0) this.#insertBy(statement, all, counts, afterSeq);
    return (row) => {
      const rows = row?.sessions ?? [];
      const next = new Map(
        rows.map(({ key, seq, before, deleted }) => [
          key,
          { seq: seq - (counts.get(key)?.count ?? 0), time: before, deleted },
        ]),
      );
      return readers.map((read) => read(next));
    };
  }

  async read(
    database: Database,
    sessionKey: string,
    { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly hasMore: boolean }> {
    const rows = await database.query<EventRow>(
      `SELECT ${columns} FROM @events WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3`,
      [sessionKey, afterSeq, Math.min(limit, 2 ** 31) + 1],
    );
    return { events: rows.slice(0, limit).map(toStored), hasMore: rows.length > limit };
  }

  async lastSequence(sql: Sql, sessionKey: string): Promise<number> {
    const [row] = await sql.query<{ seq: number }>("SELECT seq::float8 FROM @sessions WHERE key = $1", [sessionKey]);
    return row?.seq ?? 0;
  }

  /** What of it is not known by its id, and the events that are there of the rest. `isLater`: of a session that was asked for before. */
  async #lookAt(
    sql: CarefulSql,
    sessionKey: string,
    drafts: readonly EventDraft[],
    isLater: boolean,
  ): Promise<{ readonly fresh: readonly EventDraft[]; readonly known: ReadonlyMap<string, StoredEvent> }> {
    if (!sql.isCareful || drafts.length === 0) return { fresh: drafts, known: new Map() };
    if (!isLater) await sql.query("SELECT 1 FROM @sessions WHERE key = $1 FOR UPDATE", [sessionKey]);
    const rows = await sql.query<EventRow>(
      `SELECT ${columns} FROM @events WHERE session = $1 AND id = ANY ($2::text[])`,
      [sessionKey, drafts.map(({ event_id: id }) => id)],
    );
    const known = new Map(rows.map((row) => [row.id, toStored(row)]));
    const fresh = new Map(drafts.flatMap((draft) => (known.has(draft.event_id) ? [] : [[draft.event_id, draft]])));
    for (const draft of drafts)
      this.#compare(sessionKey, draft, known.get(draft.event_id) ?? fresh.get(draft.event_id));
    return { fresh: [...fresh.values()], known };
  }

  #compare(sessionKey: string, draft: EventDraft, there: EventDraft | StoredEvent | undefined): void {
    if (there === undefined || there === draft) return;
    const contentOf = ({ type, payload }: Pick<EventDraft, "type" | "payload">) => JSON.stringify([type, payload]);
    if (contentOf(there) === contentOf(draft)) return;
    this.#parts.log.error(
      `${sessionKey}: a second event has the id ${draft.event_id} and has other content; the first one stays`,
      { type: draft.type },
    );
  }

  /** The row of a session is locked until the end of the transaction, so that numbers are in the order of the commits. */
  #insertBy(
    statement: Statement,
    all: readonly { readonly key: string; readonly draft: EventDraft; readonly time: number }[],
    counts: ReadonlyMap<string, { readonly count: number; readonly time: number }>,
    afterSeq: number,
  ): void {
    const value = statement.value.bind(statement);
    const groups = [...counts.values()];
    const after = `${value(afterSeq)}::bigint`;
    statement.with(
      "s",
      `INSERT INTO @sessions AS s (key, seq, time, xid)
       SELECT g.key, ${after} + g.count, g.time, pg_current_xact_id()
       FROM unnest(${value([...counts.keys()])}::text[], ${value(groups.map(({ count }) => count))}::bigint[],
         ${value(groups.map(({ time }) => time))}::bigint[]) g (key, count, time) ORDER BY g.key
       ON CONFLICT (key) DO UPDATE SET seq = greatest(s.seq, ${after}) + excluded.seq - ${after},
         time = greatest(s.time, excluded.time), before = s.time, xid = pg_current_xact_id()
       RETURNING key, seq, before, deleted`,
    );
    statement.with(
      "n",
      `SELECT *, row_number() OVER same - count(*) OVER (PARTITION BY key) AS place, max(time) OVER same AS newest
       FROM unnest(${value(all.map(({ key }) => key))}::text[], ${value(all.map(({ draft }) => draft.event_id))}::text[],
         ${value(all.map(({ draft }) => draft.type))}::text[],
         ${value(all.map(({ draft }) => bodyOf(draft, this.#parts.instanceId)))}::text[],
         ${value(all.map(({ time }) => time))}::bigint[]) WITH ORDINALITY n (key, id, type, body, time, n)
       WINDOW same AS (PARTITION BY key ORDER BY n)`,
    );
    statement.with(
      "e",
      `INSERT INTO @events (session, seq, id, type, time, dropped, body, xid)
       SELECT key, s.seq + n.place, n.id, n.type, greatest(s.before, n.newest),
         CASE WHEN s.deleted > 0 AND s.seq + n.place = s.deleted + 1 THEN s.deleted END, n.body, pg_current_xact_id()
       FROM n JOIN s USING (key)`,
    );
    statement.result("sessions", "(SELECT json_agg(s) FROM s)");
  }

  /** The next event of a session, as the statement has stored it. */
  #next(sessionKey: string, draft: EventDraft, at: Next | undefined, time: number): readonly StoredEvent[] {
    if (at === undefined) return [];
    at.seq += 1;
    at.time = Math.max(at.time, time);
    const dropped = at.deleted > 0 && at.seq === at.deleted + 1 ? at.deleted : undefined;
    const { instanceId } = this.#parts;
    return [toEvent(draft, { sessionKey, seq: at.seq, time: at.time, instanceId, dropped })];
  }
}

function assertStored({ type }: EventDraft): void {
  if (!specOf(type).stored) throw new TypeError(`Events of type ${type} are never stored: publish them`);
}

/** What has no column of its own. */
function bodyOf(draft: EventDraft, instanceId: string): string {
  const { event_id: _id, type: _type, at: _at, agent_id, ...rest } = draft;
  return JSON.stringify(frozenCopy({ ...rest, metadata: { instance_id: instanceId, agent_id } }));
}

export function toStored({ session, seq, id, type, time, dropped, body }: EventRow): StoredEvent {
  const { metadata, ...rest } = JSON.parse(body);
  // It was an event of the catalogue when it was written.
  return deepFreeze({
    schema_version: "1.0",
    event_id: id,
    type,
    session_key: session,
    seq,
    timestamp: new Date(time).toISOString(),
    ...rest,
    metadata: dropped === null ? metadata : { ...metadata, dropped },
  }) as StoredEvent;
}

/** The row of an event that another engine has stored. */
export function toRow(event: StoredEvent): EventRow {
  const { event_id: id, type, session_key: session, seq, timestamp, schema_version, metadata, ...rest } = event;
  const { dropped = null, ...others } = metadata;
  const time = Date.parse(timestamp);
  // What the columns would not give back.
  const odd = {
    ...(schema_version === "1.0" ? {} : { schema_version }),
    ...(new Date(time).toISOString() === timestamp ? {} : { timestamp }),
  };
  return { session, seq, id, type, time, dropped, body: JSON.stringify({ ...rest, ...odd, metadata: others }) };
}

/** All events of a session, in their order. */
export async function* readSession(
  sql: Sql,
  sessionKey: string,
  pageSize = 500,
): AsyncGenerator<readonly StoredEvent[], void, undefined> {
  for (let after = 0; ; ) {
    const rows: readonly EventRow[] = await sql.query<EventRow>(
      `SELECT ${columns} FROM @events WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT ${pageSize}`,
      [sessionKey, after],
    );
    if (rows.length > 0) yield rows.map(toStored);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = last.seq;
  }
}

/** All events of a kind, in the order of sessions and numbers. `where` is a text of the program. */
export async function* readEvents(
  database: Database,
  where: string,
  pageSize = 1000,
): AsyncGenerator<StoredEvent, void, undefined> {
  for (let after: readonly [string, number] = ["", 0]; ; ) {
    const rows: readonly EventRow[] = await database.query<EventRow>(
      `SELECT ${columns} FROM @events WHERE (session, seq) > ($1, $2) AND ${where} ORDER BY session, seq LIMIT ${pageSize}`,
      after,
    );
    for (const row of rows) yield toStored(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) return;
    after = [last.session, last.seq];
  }
}
