import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { pathToFileURL } from "node:url";
import { findHome } from "../../config/home.js";
import { chooseProgram } from "../../update/current.js";
import { readVersion } from "../../util/version.js";
import { showSourceLines } from "../source-lines.js";
import { codeFolder, isSafeFolder } from "./code-folder.js";

/** What runs command lines, as it was found beside this file. */
export interface Program {
  /** Ends the process with the exit code of the command. `onReady`: a gateway has started. */
  main(args: readonly string[], onReady: () => void): Promise<never>;
  /** Leaves for the next start what was compiled for this one. Never rejects. */
  keepCode(): Promise<void>;
}

/** By then a command has loaded what it needs, and a gateway that was ready has asked its platforms. */
const afterMs = 1000;

/**
 * Runs one command line, without the program's own name, and ends the process with its exit code: with the version that an update has
 * chosen for this home, where that is newer. `settleHeap` is called when everything has started.
 */
export async function startProgram(
  args: readonly string[],
  settleHeap: () => void,
  load: (home: string) => Promise<Program>,
): Promise<void> {
  showSourceLines();
  const { env } = process;
  const home = findHome(env, env.HOME ?? homedir());
  const chosen = chooseProgram(home, readVersion());
  if (chosen.kind === "other") return void (await import(pathToFileURL(chosen.program).href));
  if (chosen.kind === "gone")
    process.stderr.write(`maxclaw: version ${chosen.version} of the last update is gone; ${readVersion()} runs\n`);
  if (chosen.kind === "foreign")
    process.stderr.write(
      `maxclaw: version ${chosen.version} of the last update is not used, because another account can change ${chosen.path}. ${readVersion()} runs. Run the command as the owner of the home\n`,
    );
  keepCompiledModules(home);
  const program = await load(home);
  // Settling changes flags of V8, and code that was kept under other flags is not taken back.
  const settle = (): unknown => setTimeout(() => void program.keepCode().then(settleHeap), afterMs).unref();
  if (args[0] !== "gateway") setTimeout(settleHeap, afterMs).unref();
  await program.main(args, settle);
}

/** Node 22.8 and newer keep for the next start what they have compiled themselves: a checkout, and packages that were added. */
function keepCompiledModules(home: string): void {
  if (!("enableCompileCache" in nodeModule) || typeof nodeModule.enableCompileCache !== "function") return;
  if (process.env.NODE_COMPILE_CACHE === undefined && isSafeFolder(home))
    nodeModule.enableCompileCache(codeFolder(home));
}
