import type { Command } from "commander";
import type { ExamineFlags } from "../../care/examination.js";

export function addDoctorCommand(program: Command, version: string): void {
  program
    .command("doctor")
    .description("Look at everything: files, keys, channels, sandbox …; exit code 1 if something has to be put right")
    .option("-c, --config <file>", "use this config file")
    .option("--fix", "put right what can be put right without asking; without it nothing is changed")
    .option("--model", "also ask the model for one word, which may cost something")
    .option("--offline", "ask nobody elsewhere, and start no other programs")
    .option("--json", "as JSON")
    .action(async (flags: ExamineFlags) => (await examination()).examine(flags, version));
}

async function examination() {
  return await import("../../care/examination.js");
}
