import { messageOf } from "../../../errors.js";
import { Spread } from "../../../util/spread.js";
import type { BossDb, PgModule, PgPool } from "../modules.js";
import { isCollision, isOutage, isTooLate, isUniqueViolation, toFault } from "./faults.js";

/** Runs statements, in which `@` before a name is the schema; the caller knows the shape of the rows, because it wrote the SELECT. */
export interface Sql {
  query<R>(text: string, values?: readonly unknown[]): Promise<readonly R[]>;
}

/** An open transaction. */
export interface Transaction extends Sql {
  /** For calls of pg-boss that belong to it. */
  readonly db: BossDb;
  /** True when it runs again because something it added is there already: look first. */
  readonly isCareful: boolean;
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
  readonly #begin: string;
  /** By the text with `@`: there are some dozens of them. */
  readonly #texts = new Map<string, string>();
  readonly commitSeconds = new Spread([0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]);
  commits = 0;
  /** Why it takes no writes. */
  refusal: string | undefined;

  constructor({ pg, url, schema, connections, idleMs, onChange }: DatabaseOptions) {
    this.#onChange = onChange;
    this.#schema = schema;
    this.#begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idleMs)}`;
    this.#pool = new pg.Pool({ ...connectionOptions(url), max: connections });
    // An idle connection was cut: the next statement takes another one.
    this.#pool.on("error", (error) => this.#refused(toFault(error, "The database cannot be used")));
  }

  /** For pg-boss outside of any transaction. */
  readonly db: BossDb = { executeSql: (text, values) => this.#pool.query(text, values) };

  async query<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    try {
      const { rows } = await this.#pool.query(this.#named(text), values);
      // The caller knows the shape of the rows, because it wrote the SELECT.
      return rows as readonly R[];
    } catch (error) {
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
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let tries = 1, isCareful = false; ; tries += 1) {
      try {
        return await this.#once(work, isCareful);
      } catch (error) {
        isCareful ||= isUniqueViolation(error);
        const mayGoWell = isCollision(error) || isUniqueViolation(error) || error instanceof Cut;
        if (!mayGoWell || tries === triesPerTransaction) throw this.#failed(error instanceof Cut ? error.cause : error);
      }
    }
  }

  /** One statement, which is a transaction by itself; a transaction where it has to look first. */
  async one<T>(work: (sql: Sql & { readonly isCareful: boolean }) => Promise<T>): Promise<T> {
    try {
      return await work({ query: (text, values) => this.#writeRaw(text, values), isCareful: false });
    } catch (error) {
      if (!isUniqueViolation(error) && !isCollision(error)) throw this.#failed(error);
      return await this.transaction((tx) => work({ query: tx.query, isCareful: true }));
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
      await client.query(this.#begin);
      const query = async <R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> =>
        (await client.query(this.#named(text), values)).rows as readonly R[];
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
      const isCutBefore = (isCut && !isEnding) || isTooLate(error);
      throw isCutBefore ? new Cut("the connection was lost", { cause: error }) : error;
    } finally {
      client.removeListener("error", onError);
      client.release(!isSound);
    }
  }

  async #writeRaw<R>(text: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    const beganAt = performance.now();
    const { rows } = await this.#pool.query(this.#named(text), values);
    this.#committed(beganAt);
    // As in `query`.
    return rows as readonly R[];
  }

  #named(text: string): string {
    let named = this.#texts.get(text);
    if (named === undefined) {
      named = text.replaceAll("@", `${this.#schema}.`);
      this.#texts.set(text, named);
    }
    return named;
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
