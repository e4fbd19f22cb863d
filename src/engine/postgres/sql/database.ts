import { messageOf } from "../../../errors.js";
import { Spread } from "../../../util/spread.js";
import type { BossDb, PgClient, PgModule, PgPool } from "../modules.js";
import { isCollision, isLost, isNotSent, isOutage, isTooLate, isUniqueViolation, toFault } from "./faults.js";

/** Runs statements, in which `@` before a name is the schema; the caller knows the shape of the rows, because it wrote the SELECT. */
export interface Sql {
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

export interface CarefulSql extends Sql {
  /** True when it runs again because something it added is there already, or may be: look first. */
  readonly isCareful: boolean;
}

/** An open transaction. */
export interface Transaction extends CarefulSql {
  /** For calls of pg-boss that belong to it. */
  readonly db: BossDb;
}

const triesPerTransaction = 5;

/** The connection was lost before the database was asked for the commit, so that nothing is stored. */
class Cut extends Error {}

export interface DatabaseOptions {
  readonly pg: PgModule;
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  /** A transaction in which this node does nothing for so long is ended: a node that stands still must hold no locks. */
  readonly idleMs: number;
  /** Called each time the database starts or stops to take writes. */
  readonly onChange: (isWritable: boolean) => void;
}

/** The connections of one node, and whether the database takes writes. */
export class Database implements Sql {
  readonly #pool: PgPool;
  readonly #onChange: DatabaseOptions["onChange"];
  readonly #schema: string;
  readonly #idleMs: number;
  /** By the text with `@`: there are some dozens of them. */
  readonly #texts = new Map<string, { readonly text: string; readonly name: string }>();
  /** No pooler is between us and the database, so a connection keeps what it is told. */
  #isDirect = false;
  readonly commitSeconds = new Spread([0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  commits = 0;
  /** Why it takes no writes. */
  refusal: string | undefined;

  constructor({ pg, url, schema, connections, idleMs, onChange }: DatabaseOptions) {
    this.#onChange = onChange;
    this.#schema = schema;
    this.#idleMs = Math.ceil(idleMs);
    const onConnect = (client: PgClient): Promise<void> => this.#onConnect(client);
    this.#pool = new pg.Pool({ ...connectionOptions(url), max: connections, onConnect });
    // An idle connection was cut: the next statement takes another one.
    this.#pool.on("error", (error) => this.#refused(toFault(error, "The database cannot be used")));
  }

  /** For pg-boss outside of any transaction. */
  readonly db: BossDb = { executeSql: (text, values) => this.#pool.query(text, values) };

  async query<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    for (let tries = 1; ; tries += 1)
      try {
        const { rows } = await this.#pool.query(this.#statement(text, values));
        // The caller knows the shape of the rows, because it wrote the SELECT.
        return rows as readonly R[];
      } catch (error) {
        // What only reads is asked again on another connection.
        if (!isLost(error) || !text.startsWith("SELECT") || tries === triesPerTransaction) throw this.#failed(error);
      }
  }

  /** One statement that writes, with a plan that is made for the rows that are there now. */
  async writePlanned<R>(text: string, values: readonly unknown[]): Promise<readonly R[]> {
    const beganAt = performance.now();
    try {
      const { rows } = await this.#pool.query(this.#statement(text, []).text, values);
      if (rows.length > 0) this.#committed(beganAt);
      // As in `query`.
      return rows as readonly R[];
    } catch (error) {
      // Another node was quicker: there is nothing for this one.
      if (isUniqueViolation(error)) return [];
      throw this.#failed(error);
    }
  }

  /** One statement that writes. */
  async write<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    try {
      return await this.#writeRaw(text, values);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * All that `work` does, or nothing. It may be called again when it meets another transaction, so it changes nothing
   * else. When this rejects with `persistence`, it may have been stored all the same.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>, isCareful = false): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#once(work, isCareful);
      } catch (error) {
        isCareful ||= isUniqueViolation(error);
        const mayGoWell = isCollision(error) || isUniqueViolation(error) || error instanceof Cut;
        if (!mayGoWell || tries === triesPerTransaction) throw this.#failed(error instanceof Cut ? error.cause : error);
      }
    }
  }

  /**
   * One statement, which is a transaction by itself; a transaction where it has to look first. It may have been stored when its
   * connection is lost, so that it must be one that finds this out when it looks.
   */
  async one<T>(work: (sql: CarefulSql) => Promise<T>): Promise<T> {
    try {
      return await work({ query: (text, values) => this.#writeRaw(text, values), isCareful: false });
    } catch (error) {
      if (!isUniqueViolation(error) && !isCollision(error) && !isLost(error)) throw this.#failed(error);
      return await this.transaction(work, true);
    }
  }

  /** Notes that writes are taken, after one that no caller of here has made. */
  noteWritten(): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.#onChange(true);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #once<T>(work: (tx: Transaction) => Promise<T>, isCareful: boolean): Promise<T> {
    const client = await this.#pool.connect();
    let isCut = false;
    // The pool listens only while it has the client itself.
    const onError = (): void => {
      isCut = true;
    };
    client.on("error", onError);
    let isSound = false;
    let isEnding = false;
    try {
      const idle = `SET LOCAL idle_in_transaction_session_timeout = ${this.#idleMs}`;
      await client.query(this.#isDirect ? "BEGIN" : `BEGIN; ${idle}`);
      const query = async <R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> =>
        (await client.query(this.#statement(text, values))).rows as readonly R[];
      const result = await work({ query, isCareful, db: { executeSql: (text, values) => client.query(text, values) } });
      const beganAt = performance.now();
      isEnding = true;
      await client.query("COMMIT");
      isSound = true;
      this.#committed(beganAt);
      return result;
    } catch (error) {
      isSound = await client.query("ROLLBACK").then(
        () => true,
        () => false,
      );
      // Nothing of it was stored: an old connection, or this node stood still.
      const isCutBefore = (isCut && !isEnding) || isNotSent(error) || isTooLate(error);
      throw isCutBefore ? new Cut("the connection was lost", { cause: error }) : error;
    } finally {
      client.removeListener("error", onError);
      client.release(!isSound);
    }
  }

  async #writeRaw<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    const beganAt = performance.now();
    const { rows } = await this.#pool.query(this.#statement(text, values));
    this.#committed(beganAt);
    // As in `query`.
    return rows as readonly R[];
  }

  /**
   * A plan that is kept may be older than the rows it is for, so it has to take an index in a table that is empty. A pooler answers
   * with a number of its own for the process, and may give each transaction another connection.
   */
  async #onConnect(client: PgClient): Promise<void> {
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    this.#isDirect = rows[0]?.pid === client.processID;
    if (!this.#isDirect) return;
    const settings = { idle_in_transaction_session_timeout: this.#idleMs, enable_seqscan: "off", jit: "off" };
    await client.query(
      Object.entries(settings)
        .map(([name, value]) => `SET ${name} = ${value}`)
        .join("; "),
    );
  }

  #statement(text: string, values: readonly unknown[]) {
    let known = this.#texts.get(text);
    if (known === undefined) {
      known = { text: text.replaceAll("@", `${this.#schema}.`), name: `maxclaw_${this.#texts.size}` };
      this.#texts.set(text, known);
    }
    const isKept = this.#isDirect && values.length > 0;
    return { text: known.text, values, ...(isKept ? { name: known.name } : {}) };
  }

  #committed(beganAt: number): void {
    this.commits += 1;
    this.commitSeconds.observe((performance.now() - beganAt) / 1000);
    this.noteWritten();
  }

  #failed(error: unknown): unknown {
    const fault = toFault(error, "The database did not take it");
    this.#refused(fault);
    return fault;
  }

  #refused(fault: unknown): void {
    if (!isOutage(fault)) return;
    const wasWritable = this.refusal === undefined;
    this.refusal = messageOf(fault);
    if (wasWritable) this.#onChange(false);
  }
}

/** Nothing that a pooler between us and the database would refuse. */
export function connectionOptions(url: string): object {
  return {
    connectionString: url,
    application_name: "maxclaw",
    connectionTimeoutMillis: 5000,
    query_timeout: 60_000,
    keepAlive: true,
  };
}
