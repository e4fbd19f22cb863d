import { fileURLToPath } from "node:url";
import { KeptCode } from "./kept-code.js";
import { Scripts } from "./scripts.js";
import { type Program, startProgram } from "./start.js";

/** Runs a command line with the scripts of the bundle, which are beside this file. */
export async function start(args: readonly string[], settleHeap: () => void): Promise<void> {
  await startProgram(args, settleHeap, async (home) => {
    const kept = process.env.NODE_DISABLE_COMPILE_CACHE === undefined ? KeptCode.read(home) : undefined;
    const scripts = new Scripts(fileURLToPath(new URL("./program/", import.meta.url)), kept);
    // Our own bundle has made it.
    const { main } = scripts.load("main.cjs") as Pick<Program, "main">;
    return { main, keepCode: () => scripts.keep() };
  });
}
