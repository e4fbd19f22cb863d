import { EngineError } from "../../../errors.js";
import type { Sql } from "./database.js";
import { isDivisionByZero } from "./faults.js";

/**
 * One statement that does several things: all of them or nothing, in one question to the database. Its parts see the tables as they
 * were before it; a part takes the rows of another one by its name.
 */
export class Statement {
  readonly #values: unknown[] = [];
  readonly #parts: string[] = [];
  readonly #results: string[] = [];

  /** Gives how a text names this value. */
  value(value: unknown): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  with(name: string, text: string): void {
    this.#parts.push(`${name} AS (${text})`);
  }

  /** One more column of what it gives. They are worked out in the order of the calls, and parts that none of them needs at the end. */
  result(name: string, expression: string): void {
    this.#results.push(`${expression} AS ${name}`);
  }

  /** Nothing is done unless the part has one row. */
  mustHave(name: string): void {
    this.result(name, `1 / (SELECT count(*) FROM ${name})`);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** The same texts must come in the same order each time: the database keeps what it has made of them. @throws {EngineError} `fenced` */
  async run<R>(sql: Sql): Promise<R | undefined> {
    if (this.isEmpty) return undefined;
    const results = this.#results.length === 0 ? "1" : this.#results.join(", ");
    try {
      return (await sql.query<R>(`WITH ${this.#parts.join(", ")} SELECT ${results}`, this.#values))[0];
    } catch (error) {
      if (!isDivisionByZero(error)) throw error;
      throw new EngineError("This attempt has ended: another one has its work, or it is done", {
        kind: "fenced",
        cause: error,
      });
    }
  }
}
