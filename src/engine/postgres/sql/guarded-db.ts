import type { BossDb } from "../modules.js";
import type { Database } from "./database.js";

/** This node has not been there for long enough to judge others. */
export class NotNow extends Error {}

/**
 * Takes claims away only while the database and this node were there without a gap: after one everybody needs the time to
 * renew. A statement may be on its way while the database stands still, so its time is that of the look before it.
 */
export class GuardedDb implements BossDb {
  readonly #database: Database;
  readonly #values: readonly unknown[];
  isGuarding = false;

  constructor(
    database: Database,
    nodeId: string,
    { renewMs, graceMs }: { readonly renewMs: number; readonly graceMs: number },
  ) {
    this.#database = database;
    this.#values = [nodeId, 2 * renewMs, graceMs];
  }

  async executeSql(text: string, values?: readonly unknown[]): ReturnType<BossDb["executeSql"]> {
    if (!this.isGuarding) return await this.#database.db.executeSql(text, values);
    return await this.#database.transaction(async (tx) => {
      const [there] = await tx.query(
        `SELECT 1 FROM @nodes WHERE id = $1 AND seen > now() - $2::float8 * interval '1 ms'
           AND since < now() - $3::float8 * interval '1 ms'`,
        this.#values,
      );
      if (there === undefined) throw new NotNow("this node was not there all the time");
      return await tx.db.executeSql(text, values);
    });
  }
}
