import type { Command } from "commander";
import { print, printJson } from "../../text/output.js";

interface Flags {
  readonly config?: string;
  readonly json?: true;
}

/** `repair`, and `journal repair` as it was called before. */
export function addRepairCommands(program: Command): void {
  const journal = program.command("journal").description("Repair the file that makes messages durable");
  for (const command of [program.command("repair"), journal.command("repair")])
    command
      .description("Repair a damaged journal and damaged conversations, and say what is lost; stop the gateway first")
      .option("-c, --config <file>", "use this config file, to find the workspace")
      .option("--json", "as JSON")
      .action(repair);
}

async function repair({ config, json }: Flags): Promise<void> {
  const [{ openContext }, { repairFiles }, { repairLines }] = await Promise.all([
    import("../../context.js"),
    import("../../../offline/repair.js"),
    import("../../text/records/repair.js"),
  ]);
  const { home, loaded } = await openContext(config);
  (await import("../../gateway/in-database.js")).assertInFiles(loaded.config);
  const done = await repairFiles({ home, workspace: loaded.config.agents.defaults.workspace });
  if (json) return printJson(done);
  for (const line of repairLines(done)) print(line);
}
