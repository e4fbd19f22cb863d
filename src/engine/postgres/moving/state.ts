import { z } from "zod";
import { EngineError } from "../../../errors.js";
import type { Sql } from "../sql/database.js";

/**
 * What `maxclaw engine migrate` has done with a schema, or is doing. `in`: everything of a home comes into it; `out`: it has gone
 * into the files of a home. `id` names the home.
 */
const moving = z.object({ direction: z.enum(["in", "out"]), id: z.string(), home: z.string(), isDone: z.boolean() });
export type Moving = z.output<typeof moving>;

export async function readMoving(sql: Sql): Promise<Moving | undefined> {
  const [row] = await sql.query<{ moving: string | null }>("SELECT moving FROM @cluster");
  return row?.moving === null || row === undefined ? undefined : moving.parse(JSON.parse(row.moving));
}

export async function writeMoving(sql: Sql, value: Moving | undefined): Promise<void> {
  await sql.query("UPDATE @cluster SET moving = $1", [value === undefined ? null : JSON.stringify(value)]);
}

/** @throws {EngineError} `corrupt`: the schema is only half filled, or its conversations are elsewhere by now */
export async function assertNotMoving(sql: Sql, schema: string): Promise<void> {
  const state = await readMoving(sql);
  if (state === undefined || (state.direction === "in" && state.isDone)) return;
  const what =
    state.direction === "in"
      ? `The conversations of ${state.home} are on their way into the schema ${schema}, and not all are there yet. Run "maxclaw engine migrate --to postgres" there again.`
      : `The conversations of the schema ${schema} ${state.isDone ? "were moved" : "are being moved"} to files in ${state.home}. Take engine out of the config of that gateway${state.isDone ? "" : ', once "maxclaw engine migrate --to embedded" has ended there'}, or set another engine.schema.`;
  throw new EngineError(what, { kind: "corrupt" });
}
