import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { sleep } from "../../../util/async/sleep.js";
import { within } from "../../../util/async/within.js";
import type { PgModule } from "../modules.js";
import { connectionOptions, type Sql } from "../sql/database.js";

/** What one node tells the others. Any of it may be lost, or come twice: it only says where to look. */
export interface Signal {
  /** The node that sent it. */
  readonly n: string;
  /** A session, and its last number. */
  readonly e?: readonly [string, number];
  /** Work that was accepted: its queue, lane and id. */
  readonly w?: readonly [string, string, string];
  /** A queue in which something may be taken now. */
  readonly q?: string;
  /** A lease that was given up. */
  readonly l?: string;
  /** A session that was deleted, and the place behind the last work that it had then. */
  readonly d?: string;
  readonly b?: number;
  /** A record that was changed: its kind and id. */
  readonly r?: readonly [string, string];
  /** A piece of an event that is not stored: whose, which piece, of how many, and the piece. */
  readonly t?: readonly [string, number, number, string];
  /** To hear oneself. */
  readonly p?: number;
}

export interface SignalsOptions {
  readonly pg: PgModule;
  readonly url: string;
  readonly channel: string;
  readonly nodeId: string;
  readonly sql: Sql;
  readonly log: Logger;
  /** Called with what other nodes tell. */
  readonly onSignal: (signal: Signal) => void;
  /** Called when it begins to listen again: something may have been missed. */
  readonly onListening: () => void;
}

const heartbeatMs = 5000;
const againMs = { first: 100, longest: 5000 };

/** What a node tells, without its name. */
export type Told = Omit<Signal, "n">;

/** A commit that notifies takes a lock of the whole server until it is on the disk. This one says nothing that must be there after a crash. */
const sendSql = `SELECT pg_notify($1, s) FROM (SELECT set_config('synchronous_commit', 'off', true)) c, unnest($2::text[]) s`;

/** Tells the other nodes what is stored, and listens to them, on a connection of its own that is made again whenever it is lost. */
export class Signals {
  readonly #options: SignalsOptions;
  readonly #closing = new AbortController();
  readonly #listening: Promise<void>;
  #onPing: (() => void) | undefined;
  #pings = 0;
  /** What is told next, by what it is about: newer takes the place of older. */
  readonly #waiting = new Map<string, Told>();
  #telling: Promise<void> | undefined;
  /** When another node was heard last. */
  #heardAt = performance.now();
  /** Nobody would hear it. A node that starts pings, so it is heard at once. */
  #isAlone = false;
  /** False while nothing arrives: then everybody has to look more often. */
  isListening = false;

  constructor(options: SignalsOptions) {
    this.#options = options;
    this.#listening = this.#keepListening();
  }

  /** Tells what was stored a moment ago. While one message is on its way, what comes is gathered for the next one. */
  tell(told: Told): void {
    if (this.#isAlone) return;
    this.#waiting.set(told.e === undefined ? JSON.stringify(told) : `e ${told.e[0]}`, told);
    this.#telling ??= this.#tellAll();
  }

  async send(signals: readonly Told[]): Promise<void> {
    if (!this.#isAlone) await this.#notify(signals);
  }

  /** A look at the database that began then has found other nodes, or none. */
  foundOthers(areThere: boolean, lookedAt: number): void {
    this.#isAlone = !areThere && this.#heardAt < lookedAt;
  }

  async close(): Promise<void> {
    await this.#telling;
    this.#closing.abort();
    await this.#listening;
  }

  async #tellAll(): Promise<void> {
    // What is told in the same turn of the loop goes together.
    await Promise.resolve();
    while (this.#waiting.size > 0) {
      const told = [...this.#waiting.values()];
      this.#waiting.clear();
      await this.#notify(told).catch((error: unknown) =>
        this.#options.log.debug("other nodes see later what was stored", { error }),
      );
    }
    this.#telling = undefined;
  }

  async #notify(signals: readonly Told[]): Promise<void> {
    const { sql, channel, nodeId: n } = this.#options;
    await sql.query(sendSql, [channel, signals.map((signal) => JSON.stringify({ n, ...signal }))]);
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.#listen(() => {
          failures = 0;
        });
      } catch (error) {
        if (!signal.aborted && this.isListening)
          this.#options.log.warn(`what other nodes do is seen later for now: ${messageOf(error)}`);
      }
      this.isListening = false;
      await sleep(Math.min(againMs.first * 2 ** failures, againMs.longest), signal).catch(() => undefined);
    }
  }

  /** Rejects once nothing arrives any more. */
  async #listen(onHeard: () => void): Promise<void> {
    const { pg, url, channel } = this.#options;
    const client = new pg.Client(connectionOptions(url));
    const lost = new Promise<never>((_resolve, reject) => {
      client.on("error", (error) => reject(error ?? new Error("the connection was lost")));
      client.on("end", () => reject(new Error("the connection has ended")));
    });
    lost.catch(() => undefined);
    try {
      await client.connect();
      client.on("notification", ({ payload }) => this.#take(payload ?? ""));
      await client.query(`LISTEN "${channel}"`);
      for (;;) {
        await this.#ping(lost);
        onHeard();
        if (!this.isListening) {
          this.isListening = true;
          this.#options.onListening();
        }
        await within(Promise.race([lost, sleep(heartbeatMs, this.#closing.signal)]), {});
      }
    } finally {
      await within(client.end(), { ms: 1000 }).catch(() => undefined);
    }
  }

  /** A connection may be there and bring nothing: half of it is gone, or a pooler gives it to others in between. */
  async #ping(lost: Promise<never>): Promise<void> {
    this.#pings += 1;
    const p = this.#pings;
    const heard = new Promise<void>((resolve) => {
      this.#onPing = resolve;
    });
    const sent = this.#notify([{ p }]);
    sent.catch(() => undefined);
    await within(Promise.race([Promise.all([heard, sent]), lost]), {
      ms: heartbeatMs,
      signal: this.#closing.signal,
      late: () => new Error("notifications do not arrive. Is there a pooler in transaction mode?"),
    });
  }

  #take(payload: string): void {
    const { nodeId, onSignal, log } = this.#options;
    try {
      // Only nodes of this cluster write to this channel, and what they tell is only a hint.
      const signal = JSON.parse(payload) as Signal;
      if (signal.n !== nodeId) {
        this.#heardAt = performance.now();
        this.#isAlone = false;
        onSignal(signal);
      } else if (signal.p === this.#pings) this.#onPing?.();
    } catch (error) {
      log.warn("a notification of the database was not understood", { error });
    }
  }
}
