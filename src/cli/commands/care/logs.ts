import { type Command, InvalidArgumentError, Option } from "commander";
import { type LogLevel, logLevels } from "../../../log/read-log.js";
import { codeOf } from "../../../util/error-code.js";
import { CommandError } from "../../exit.js";
import { print, toPlainJson } from "../../text/output.js";

interface Flags {
  readonly follow?: true;
  readonly lines: number;
  readonly level?: LogLevel;
  readonly json?: true;
}

export function addLogsCommand(program: Command): void {
  program
    .command("logs")
    .description("Show the gateway's own log, also while none runs")
    .option("-f, --follow", "go on with what is written, until Ctrl+C")
    .option("-n, --lines <number>", "how many of the last lines", parseLines, 100)
    .addOption(new Option("--level <level>", "leave out what is below it").choices([...logLevels]))
    .option("--json", "a line of JSON each, as they are in the file")
    .action(show);
}

async function show({ follow, lines, level, json }: Flags): Promise<void> {
  const [{ openContext }, { readLog }, { logLine }, { join }, { stat }] = await Promise.all([
    import("../../context.js"),
    import("../../../log/read-log.js"),
    import("../../text/records/log.js"),
    import("node:path"),
    import("node:fs/promises"),
  ]);
  const { home } = await openContext();
  const path = join(home, "logs", "gateway.log");
  const missing = await stat(path).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (missing !== undefined && codeOf(missing) !== "ENOENT") throw missing;
  if (missing !== undefined && follow !== true)
    throw new CommandError(`There is no log yet: ${path} is written once a gateway runs for this home.`);
  const options = { lines, level, follow: follow === true };
  for await (const line of readLog(path, options, new AbortController().signal)) {
    if (!json) print(logLine(line));
    else if (line.level !== undefined) print(toPlainJson(JSON.parse(line.text)));
  }
}

function parseLines(text: string): number {
  const lines = Number(text);
  if (!/^\d+$/.test(text) || lines > 1_000_000) throw new InvalidArgumentError("A number from 0 to 1000000.");
  return lines;
}
