import { CommanderError } from "commander";
import { exitCodeOf, exitCodes, sentenceOf } from "./exit.js";
import { createProgram } from "./program.js";
import { printNote } from "./text/output.js";

/** Runs one command line, without the program's own name, and ends the process with its exit code. `onReady`: a gateway has started. */
export async function main(args: readonly string[], onReady: () => void): Promise<never> {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that has seen enough, as in `maxclaw sessions list | head`, is not a failure.
      if (error.code === "EPIPE") process.exit(Number(process.exitCode ?? exitCodes.ok));
      throw error;
    });
  const exitCode = await run(args, onReady);
  // What a slow reader has not taken yet would be lost with the process.
  await Promise.all([written(process.stdout), written(process.stderr)]);
  process.exit(exitCode);
}

/** Resolves once the system has taken everything that was written so far. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

async function run(args: readonly string[], onReady: () => void): Promise<number> {
  try {
    await createProgram(onReady).parseAsync([...args], { from: "user" });
    // Signals and failures that a command has told already leave their code here.
    return Number(process.exitCode ?? exitCodes.ok);
  } catch (error) {
    // Commander has written its own sentence.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    printNote(`maxclaw: ${sentenceOf(error)}`);
    return exitCodeOf(error);
  }
}
