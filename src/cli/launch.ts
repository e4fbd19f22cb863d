import { homedir } from "node:os";
import { pathToFileURL } from "node:url";
import { findHome } from "../config/home.js";
import { chooseProgram } from "../update/current.js";
import { readVersion } from "../util/version.js";

/** Runs a command line with the version that an update has chosen for this home, where that is newer; else with this one. */
export async function launch(args: readonly string[]): Promise<void> {
  const { env } = process;
  const chosen = chooseProgram(findHome(env, env.HOME ?? homedir()), readVersion());
  if (chosen.kind === "other") return void (await import(pathToFileURL(chosen.program).href));
  if (chosen.kind === "gone")
    process.stderr.write(`maxclaw: version ${chosen.version} of the last update is gone; ${readVersion()} runs\n`);
  const { main } = await import("./main.js");
  await main(args);
}
