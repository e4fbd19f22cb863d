import type { Config } from "../../config/schema.js";
import { CommandError } from "../exit.js";

/** Where the conversations are, when they are not in files of this machine: with what to use instead. */
export function assertInFiles(config: Pick<Config, "engine">): void {
  if (config.engine.kind !== "embedded") throw notInFiles(config);
}

export function notInFiles({ engine }: Pick<Config, "engine">): CommandError {
  return new CommandError(
    `This command reads the files of the embedded engine. The conversations are in PostgreSQL (schema ${engine.schema}): look at them with maxclaw sessions and maxclaw status, and copy them with pg_dump. docs/cluster.md says more.`,
  );
}

/** What a backup of files does not hold. */
export function leftInDatabase({ engine }: Pick<Config, "engine">): readonly { path: string; why: string }[] {
  if (engine.kind === "embedded") return [];
  return [
    {
      path: "every conversation, with all that waits to be answered",
      why: `it is in PostgreSQL. Add: pg_dump --format=custom --schema=${engine.schema} --file=maxclaw.dump <engine.url>`,
    },
  ];
}
