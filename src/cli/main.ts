import { CommanderError } from "commander";
import { exitCodeOf, exitCodes, sentenceOf } from "./exit.js";
import { tell } from "./output.js";
import { createProgram } from "./program.js";

/** Runs one command line, without the program's own name, and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<never> {
  // A reader that has seen enough, as in `maxclaw sessions list | head`, is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.ok);
    throw error;
  });
  process.exit(await run(args));
}

async function run(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...args], { from: "user" });
    // Signals and failures that a command has told already leave their code here.
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    // Commander has written its own sentence.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    tell(`maxclaw: ${sentenceOf(error)}`);
    return exitCodeOf(error);
  }
}
