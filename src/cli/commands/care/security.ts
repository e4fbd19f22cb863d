import type { Command } from "commander";
import type { ExamineFlags } from "../../care/examination.js";

export function addSecurityCommand(program: Command, version: string): void {
  program
    .command("security")
    .description(
      "Look for what lets others in, with a score; part of doctor. Exit code 1 if something has to be put right",
    )
    .option("-c, --config <file>", "look at this config file")
    .option("--fix", "close files that others can read; without it nothing is changed")
    .option("--json", "as JSON")
    .action(async (flags: ExamineFlags) => (await import("../../care/examination.js")).examineSecurity(flags, version));
}
