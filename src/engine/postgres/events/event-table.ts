import { specOf } from "../../../events/catalogue.js";
import type { EventDraft, StoredEvent } from "../../../events/event.js";
import type { Logger } from "../../../log.js";
import { deepFreeze } from "../../../util/deep-freeze.js";
import { frozenCopy } from "../../frozen-copy.js";
import { toEvent } from "../../to-event.js";
import type { Database, Sql, Transaction } from "../sql/database.js";

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

interface Numbered {
  readonly seq: number;
  /** The time of the event before these. */
  readonly before: number;
  readonly deleted: number;
}

const columns = "session, seq::float8, id, type, time::float8, dropped::float8, body";

/** The row of the session is locked until the end of the transaction, so that numbers are in the order of the commits. */
const addSql = `
  WITH s AS (
    INSERT INTO @sessions AS s (key, seq, time, xid)
    VALUES ($1, $2::bigint + $3::int, $4, pg_current_xact_id())
    ON CONFLICT (key) DO UPDATE SET seq = greatest(s.seq, $2::bigint) + $3::int,
      time = greatest(s.time, excluded.time), before = s.time, xid = pg_current_xact_id()
    RETURNING seq, before, deleted
  ), e AS (
    INSERT INTO @events (session, seq, id, type, time, dropped, body, xid)
    SELECT $1, s.seq - $3::int + d.n, d.id, d.type, greatest(s.before, max(d.time) OVER (ORDER BY d.n)),
      CASE WHEN s.deleted > 0 AND s.seq - $3::int + d.n = s.deleted + 1 THEN s.deleted END, d.body, pg_current_xact_id()
    FROM s, unnest($5::text[], $6::text[], $7::text[], $8::bigint[]) WITH ORDINALITY AS d (id, type, body, time, n)
  )
  SELECT s.seq::float8, s.before::float8, s.deleted::float8 FROM s
`;

/** The same for several sessions at once. */
const addManySql = `
  WITH s AS (
    INSERT INTO @sessions AS s (key, seq, time, xid)
    SELECT g.key, g.count, g.time, pg_current_xact_id() FROM unnest($1::text[], $2::bigint[], $3::bigint[]) g (key, count, time)
    ORDER BY g.key
    ON CONFLICT (key) DO UPDATE SET seq = s.seq + excluded.seq, time = greatest(s.time, excluded.time),
      before = s.time, xid = pg_current_xact_id()
    RETURNING key, seq, before, deleted
  ), d AS (
    SELECT *, count(*) OVER (PARTITION BY key) AS many, row_number() OVER (PARTITION BY key ORDER BY n) AS place
    FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) WITH ORDINALITY d (key, id, type, body, time, n)
  ), e AS (
    INSERT INTO @events (session, seq, id, type, time, dropped, body, xid)
    SELECT key, s.seq - d.many + d.place, d.id, d.type,
      greatest(s.before, max(d.time) OVER (PARTITION BY key ORDER BY d.n)),
      CASE WHEN s.deleted > 0 AND s.seq - d.many + d.place = s.deleted + 1 THEN s.deleted END, d.body, pg_current_xact_id()
    FROM d JOIN s USING (key)
  )
  SELECT s.key, s.seq::float8, s.before::float8, s.deleted::float8 FROM s
`;

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

/** The logs of the sessions. */
export class EventTable {
  readonly #parts: { readonly instanceId: string; readonly log: Logger };

  constructor(parts: { readonly instanceId: string; readonly log: Logger }) {
    this.#parts = parts;
  }

  /** @throws {TypeError} for an event that is never stored, before anything is written */
  async add(
    sql: Sql & { readonly isCareful?: boolean },
    sessionKey: string,
    drafts: readonly EventDraft[],
    options: AddOptions,
  ): Promise<StoredBatch> {
    for (const draft of drafts) assertStored(draft);
    if (sql.isCareful === true) return await this.#addNew(sql, sessionKey, drafts, options);
    const added = await this.#insert(sql, sessionKey, drafts, options);
    return { events: added, added };
  }

  /** Adds to several sessions, in the order given. One batch for each addition. */
  async addMany(tx: Transaction, additions: readonly Addition[], timeOf: TimeOf): Promise<readonly StoredBatch[]> {
    if (tx.isCareful) {
      const batches: StoredBatch[] = [];
      for (const { sessionKey, drafts } of additions) batches.push(await this.add(tx, sessionKey, drafts, { timeOf }));
      return batches;
    }
    const all = additions.flatMap(({ sessionKey, drafts }) => drafts.map((draft) => ({ sessionKey, draft })));
    if (all.length === 0) return additions.map(() => ({ events: [], added: [] }));
    for (const { draft } of all) assertStored(draft);
    const counts = new Map<string, number>();
    for (const { sessionKey } of all) counts.set(sessionKey, (counts.get(sessionKey) ?? 0) + 1);
    const times = all.map(({ sessionKey, draft }) => Math.round(timeOf(sessionKey, draft)));
    const newest = (key: string): number => Math.max(...times.filter((_, index) => all[index]?.sessionKey === key));
    const { instanceId } = this.#parts;
    const rows = await tx.query<Numbered & { readonly key: string }>(addManySql, [
      ...[[...counts.keys()], [...counts.values()], [...counts.keys()].map(newest)],
      ...[all.map(({ sessionKey }) => sessionKey), all.map(({ draft }) => draft.event_id)],
      ...[all.map(({ draft }) => draft.type), all.map(({ draft }) => bodyOf(draft, instanceId))],
      times,
    ]);
    const next = new Map(
      rows.map(({ key, seq, before, deleted }) => [key, { seq: seq - (counts.get(key) ?? 0), time: before, deleted }]),
    );
    const placed = all.map(({ sessionKey, draft }, index): StoredEvent[] => {
      const at = next.get(sessionKey);
      return at === undefined ? [] : [this.#next(sessionKey, draft, at, times[index] ?? 0)];
    });
    let taken = 0;
    return additions.map(({ drafts }) => {
      const added = placed.slice(taken, taken + drafts.length).flat();
      taken += drafts.length;
      return { events: added, added };
    });
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

  /** Adds what is not known by its id; the others give the event that is there. */
  async #addNew(
    sql: Sql,
    sessionKey: string,
    drafts: readonly EventDraft[],
    options: AddOptions,
  ): Promise<StoredBatch> {
    await sql.query("SELECT 1 FROM @sessions WHERE key = $1 FOR UPDATE", [sessionKey]);
    const rows = await sql.query<EventRow>(
      `SELECT ${columns} FROM @events WHERE session = $1 AND id = ANY ($2::text[])`,
      [sessionKey, drafts.map(({ event_id: id }) => id)],
    );
    const known = new Map(rows.map((row) => [row.id, toStored(row)]));
    const fresh = new Map(drafts.flatMap((draft) => (known.has(draft.event_id) ? [] : [[draft.event_id, draft]])));
    for (const draft of drafts)
      this.#compare(sessionKey, draft, known.get(draft.event_id) ?? fresh.get(draft.event_id));
    const added = fresh.size === 0 ? [] : await this.#insert(sql, sessionKey, [...fresh.values()], options);
    for (const event of added) known.set(event.event_id, event);
    return { events: drafts.flatMap(({ event_id: id }) => known.get(id) ?? []), added };
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

  async #insert(
    sql: Sql,
    sessionKey: string,
    drafts: readonly EventDraft[],
    { afterSeq = 0, timeOf }: AddOptions,
  ): Promise<readonly StoredEvent[]> {
    const { instanceId } = this.#parts;
    const times = drafts.map((draft) => Math.round(timeOf(sessionKey, draft)));
    const [row] = await sql.query<Numbered>(addSql, [
      ...[sessionKey, afterSeq, drafts.length, Math.max(...times)],
      ...[drafts.map(({ event_id: id }) => id), drafts.map(({ type }) => type)],
      drafts.map((draft) => bodyOf(draft, instanceId)),
      times,
    ]);
    if (row === undefined) throw new Error(`${sessionKey}: events were not stored`);
    const at = { seq: row.seq - drafts.length, time: row.before, deleted: row.deleted };
    return drafts.map((draft, index) => this.#next(sessionKey, draft, at, times[index] ?? 0));
  }

  /** The next event of a session, as the statement has stored it. */
  #next(
    sessionKey: string,
    draft: EventDraft,
    at: { seq: number; time: number; readonly deleted: number },
    time: number,
  ): StoredEvent {
    at.seq += 1;
    at.time = Math.max(at.time, time);
    const dropped = at.deleted > 0 && at.seq === at.deleted + 1 ? at.deleted : undefined;
    const { instanceId } = this.#parts;
    return toEvent(draft, { sessionKey, seq: at.seq, time: at.time, instanceId, dropped });
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
