import { type Command, Option } from "commander";
import type { Moved } from "../../../offline/engine/copy.js";
import { counted } from "../../../util/text/counted.js";
import { CommandError, exitCodes } from "../../exit.js";
import { print, printJson, printNote } from "../../text/output.js";

interface Flags {
  readonly to: "postgres" | "embedded";
  readonly url?: string;
  readonly schema?: string;
  readonly dryRun?: true;
  readonly json?: true;
  readonly config?: string;
}

export function addEngineCommand(program: Command): void {
  program
    .command("engine")
    .description(
      "Where your conversations are kept: files of this machine, or a PostgreSQL that several gateways share",
    )
    .command("migrate")
    .description("Move every conversation, and all that waits, to the other engine; stop all gateways first")
    .addOption(new Option("--to <engine>", "where to").choices(["postgres", "embedded"]).makeOptionMandatory())
    .option("--url <url>", "the database, if engine.url in the config does not name it")
    .option("--schema <name>", "its schema, if engine.schema in the config does not name it")
    .option("--dry-run", "change nothing; say what would be moved")
    .option("-c, --config <file>", "use this config file")
    .option("--json", "as JSON")
    .action(migrate);
}

async function migrate({ to, dryRun, json, config, ...flags }: Flags): Promise<void> {
  const [{ openContext }, { moveToFiles, moveToPostgres }] = await Promise.all([
    import("../../context.js"),
    import("../../../offline/engine/move.js"),
  ]);
  const { home, loaded } = await openContext(config);
  const { engine, agents } = loaded.config;
  const url = flags.url ?? engine.url;
  if (url === undefined)
    throw new CommandError(
      "No database is named. Set engine.url in the config, or give --url postgresql://user:password@host/database.",
      exitCodes.usage,
    );
  const schema = flags.schema ?? engine.schema;
  const options = {
    ...{ home, workspace: agents.defaults.workspace, isTrial: dryRun === true },
    database: { url, schema },
    onProgress: (sessions: number, events: number) => printNote(`${sessions} conversations, ${events} events …`),
    signal: new AbortController().signal,
  };
  const { aside, ...moved } = await (to === "postgres" ? moveToPostgres(options) : moveToFiles(options));
  if (json) return printJson({ to, schema, isDone: dryRun !== true, ...moved, aside });
  print(`${dryRun ? "Would be moved" : "Moved and compared"}: ${sentenceOf(moved)}.`);
  if (dryRun) return print("Nothing was changed.");
  for (const folder of aside) print(`The files from before are in ${folder}`);
  const wanted = to === "postgres" ? "postgres" : "embedded";
  if (engine.kind !== wanted)
    print(
      to === "postgres"
        ? `Next: maxclaw config set engine.kind postgres, with engine.url and engine.schema (${schema}) as here.`
        : "Next: maxclaw config set engine.kind embedded",
    );
  print("Then start the gateway: maxclaw gateway");
}

function sentenceOf({ sessions, events, messages, replies, deadLetters, records }: Moved): string {
  return [
    `${counted(sessions, "conversation")} with ${counted(events, "event")}`,
    `${counted(messages, "message")} to be answered`,
    `${counted(replies, "reply", "replies")} to be sent`,
    counted(deadLetters, "dead letter"),
    counted(records, "record"),
  ].join(", ");
}
