import { systemKey } from "../../events/session-key.js";
import type { Logger } from "../../log.js";
import { createGate } from "../../util/async/gate.js";
import { settledWithin } from "../../util/async/within.js";
import type { QueueName } from "../engine.js";
import { queueNames } from "./lanes/jobs.js";
import type { Lanes } from "./lanes/lanes.js";
import type { Node } from "./node.js";
import type { RecordRow } from "./records.js";

interface Look {
  readonly xmin: string;
  readonly sessions: readonly (readonly [string, number, number])[] | null;
  readonly records: readonly RecordRow[] | null;
  readonly work: readonly { readonly queue: QueueName; readonly count: number; readonly oldest: number }[] | null;
  readonly dead: number;
  readonly others: boolean;
}

/** All that has changed since another look, no matter which node changed it: what a transaction that is older than `xmin` wrote was seen then. */
const lookSql = `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin,
  (SELECT json_agg(json_build_array(key, seq, deleted)) FROM @sessions WHERE xid >= $1::xid8) AS sessions,
  (SELECT json_agg(json_build_object('kind', kind, 'id', id, 'value', value, 'version', version, 'position', position))
    FROM @records WHERE xid >= $1::xid8) AS records,
  (SELECT json_agg(w) FROM (SELECT queue, count(*)::float8 AS count, min(accepted_at)::float8 AS oldest
    FROM @work GROUP BY queue) w) AS work,
  (SELECT count(*)::float8 FROM @dead) AS dead,
  EXISTS (SELECT 1 FROM @nodes WHERE id <> $2 AND seen > clock_timestamp() - interval '1 minute') AS others`;

/** The gateways' own log has no end by itself; of the newest events so many stay. */
const ownLogEvents = 20_000;
const rowsAtOnce = 5000;
/** How often it is looked, without the database, for claims that have lapsed. */
export const lapseMs = 250;
/** A look that fails is logged so often. */
const complainMs = 60_000;

export interface WatchTiming {
  readonly renewMs: number;
  readonly pollMs: () => number;
  /** Called with what each look finds: whether other nodes are there, and when it began. */
  readonly foundOthers: (areThere: boolean, lookedAt: number) => void;
  /** How often it cleans up. */
  readonly cleanMs: number;
}

/** What a node does by the clock: it shows itself, renews its claims, looks for what it was not told, and cleans up. */
export class Watch {
  readonly #node: Node;
  readonly #lanes: Lanes;
  readonly #nodeId: string;
  readonly #timing: WatchTiming;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #running: readonly Promise<void>[] = [];
  #lapsing: NodeJS.Timeout | undefined;
  #xmin = "";
  #complainedAt = Number.NEGATIVE_INFINITY;
  #cleanedAt = performance.now();
  #lookNow = createGate();

  constructor(node: Node, lanes: Lanes, nodeId: string, timing: WatchTiming) {
    this.#node = node;
    this.#lanes = lanes;
    this.#nodeId = nodeId;
    this.#timing = timing;
    this.#log = node.log;
  }

  async open(): Promise<void> {
    const [row] = await this.#node.database.query<{ xmin: string }>(
      "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin",
    );
    this.#xmin = row?.xmin ?? "0";
    await this.#show();
    await this.#look();
    // Nobody else may have begun with what lapses here.
    this.#lapsing = setInterval(() => this.#lanes.lapse(this.#node), Math.min(lapseMs, this.#timing.renewMs));
    this.#running = [
      this.#repeat(
        () => this.#renew(),
        () => this.#timing.renewMs,
      ),
      this.#repeat(() => this.#lookAround(), this.#timing.pollMs),
    ];
  }

  /** Something may have been missed. */
  soon(): void {
    this.#lookNow.open();
    this.#lookNow = createGate();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#lapsing);
    await Promise.all(this.#running);
  }

  async #repeat(step: () => Promise<void>, everyMs: () => number): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await step();
      } catch (error) {
        this.#complain(error);
      }
      await settledWithin(this.#lookNow.opened, { ms: everyMs(), signal });
    }
  }

  async #renew(): Promise<void> {
    await this.#show();
    await this.#lanes.renew(this.#node);
  }

  /** `since`: by the database's clock, for how long nothing has kept the nodes from showing themselves in time. */
  async #show(): Promise<void> {
    await this.#node.database.write(
      `INSERT INTO @nodes AS n (id, since, seen) VALUES ($1, clock_timestamp(), clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET seen = excluded.seen,
         since = CASE WHEN n.seen < excluded.seen - 2 * $2::float8 * interval '1 ms' THEN excluded.seen ELSE n.since END`,
      [this.#nodeId, this.#timing.renewMs],
    );
  }

  async #lookAround(): Promise<void> {
    await this.#look();
    await this.#node.jobs.supervise();
    for (const queue of queueNames) this.#lanes.wake(queue);
    if (performance.now() - this.#cleanedAt >= this.#timing.cleanMs) {
      this.#cleanedAt = performance.now();
      await this.#clean();
    }
  }

  async #look(): Promise<void> {
    const { database, counts, feed, records } = this.#node;
    const count = counts.look();
    const lookedAt = performance.now();
    const [look] = await database.query<Look>(lookSql, [this.#xmin, this.#nodeId]);
    if (look === undefined) return;
    this.#timing.foundOthers(look.others, lookedAt);
    this.#xmin = look.xmin;
    for (const session of look.sessions ?? []) feed.seen(...session);
    feed.retryMissed();
    records.take(look.records ?? []);
    const of = (name: QueueName) => look.work?.find(({ queue }) => queue === name);
    const oldest = Object.fromEntries((look.work ?? []).map((row) => [row.queue, row.oldest]));
    count({ inbound: of("inbound")?.count ?? 0, outbound: of("outbound")?.count ?? 0, dead: look.dead, oldest });
  }

  /** In small steps, so that nothing waits for it. */
  async #clean(): Promise<void> {
    const { database } = this.#node;
    await this.#deleteAll(
      `DELETE FROM @seen WHERE id = ANY (ARRAY(SELECT id FROM @seen WHERE until < now() LIMIT ${rowsAtOnce})) RETURNING 1`,
    );
    await this.#deleteAll(
      `DELETE FROM @events WHERE session = $1 AND seq = ANY (ARRAY(SELECT seq FROM @events WHERE session = $1
         AND seq <= (SELECT seq - ${ownLogEvents} FROM @sessions WHERE key = $1) ORDER BY seq LIMIT ${rowsAtOnce})) RETURNING 1`,
      [systemKey("local")],
    );
    await database.query("DELETE FROM @records WHERE value IS NULL AND changed < now() - interval '1 day'");
    await database.query("DELETE FROM @nodes WHERE seen < now() - interval '7 days'");
    // The oldest replies make room for newer ones.
    await database.query(
      `DELETE FROM @dead WHERE queue = 'outbound' AND position <= (SELECT position FROM @dead ORDER BY position DESC
         OFFSET 1000 LIMIT 1)`,
    );
    // pg-boss ends what runs for a day; a person may take longer for an answer.
    await database.query(
      `UPDATE @job SET started_on = now() WHERE name = ANY ($1::text[]) AND id = ANY ($2::uuid[]) AND state = 'active'
         AND started_on < now() - interval '6 hours'`,
      [queueNames, this.#lanes.held().map(({ claim }) => claim.id)],
    );
  }

  async #deleteAll(someSql: string, values: readonly unknown[] = []): Promise<void> {
    const { database } = this.#node;
    while ((await database.query(someSql, values)).length === rowsAtOnce && !this.#closing.signal.aborted);
  }

  #complain(error: unknown): void {
    if (this.#closing.signal.aborted || performance.now() - this.#complainedAt < complainMs) return;
    this.#complainedAt = performance.now();
    this.#log.warn("the database cannot be asked; this is tried again", { error });
  }
}
