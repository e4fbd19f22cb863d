import type { Command } from "commander";
import { exitCodes } from "../../exit.js";
import { print, printJson } from "../../text/output.js";

interface Flags {
  readonly config?: string;
  readonly json?: true;
}

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("Look for what is damaged, and say what to do; exit code 1 if there is anything. Changes nothing")
    .option("-c, --config <file>", "use this config file, to find the workspace")
    .option("--json", "as JSON")
    .action(examine);
}

async function examine({ config, json }: Flags): Promise<void> {
  const [{ openContext }, { withFiles }, { examineFiles }, { reportLines }, { harmless }] = await Promise.all([
    import("../../context.js"),
    import("../../gateway/with-files.js"),
    import("../../../offline/doctor.js"),
    import("../../text/events.js"),
    import("../../text/output.js"),
  ]);
  const context = await openContext(config);
  const found = await withFiles(context, (files, signal) => examineFiles(files, signal));
  const isWell = found.problems.length === 0 && found.events.problemCount === 0;
  if (!isWell) process.exitCode = exitCodes.failure;
  if (json) return printJson({ ok: isWell, ...found });
  for (const problem of found.problems) print(harmless(problem));
  for (const line of reportLines(found.events)) print(line);
  if (isWell) print("Nothing is damaged.");
}
