import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ConfigError } from "../../errors.js";
import { readPlain } from "../../util/files/real-path.js";

const noteName = "engine-migrate.json";
const noteShape = z.object({ id: z.string(), to: z.enum(["postgres", "embedded"]), isDone: z.boolean() });

/** In a home that is on its way to another engine. `id` names the home for the schema. `isDone`: only tidying up is left. */
export type MoveNote = z.output<typeof noteShape>;

/** @throws {ConfigError} */
export function readMoveNote(home: string): MoveNote | undefined {
  const path = join(home, noteName);
  if (!existsSync(path)) return undefined;
  try {
    return noteShape.parse(JSON.parse(readPlain(path).toString()));
  } catch (error) {
    throw new ConfigError(`${path} cannot be read. Delete it, then run maxclaw engine migrate again.`, {
      cause: error,
    });
  }
}

export function writeMoveNote(home: string, note: MoveNote): void {
  writeFileSync(join(home, noteName), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

export function removeMoveNote(home: string): void {
  rmSync(join(home, noteName), { force: true });
}

/** What is accepted while only a part is on the other side could end up on neither. @throws {ConfigError} */
export function assertMoved(home: string): void {
  const note = readMoveNote(home);
  if (note === undefined) return;
  throw new ConfigError(
    `The move of ${home} to the engine "${note.to}" was cut off. Run "maxclaw engine migrate --to ${note.to}" again: it goes on where it ended. To keep the conversations where they were before, delete ${join(home, noteName)}.`,
  );
}
