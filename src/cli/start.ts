import { existsSync, lstatSync } from "node:fs";
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { findHome } from "../config/home.js";
import { chooseProgram } from "../update/current.js";
import { readVersion } from "../util/version.js";
import { showSourceLines } from "./source-lines.js";

/**
 * Runs one command line, without the program's own name, and ends the process with its exit code: with the version that an update has
 * chosen for this home, where that is newer.
 */
export async function start(args: readonly string[]): Promise<void> {
  showSourceLines();
  const { env } = process;
  const chosen = chooseProgram(findHome(env, env.HOME ?? homedir()), readVersion());
  if (chosen.kind === "other") return void (await import(pathToFileURL(chosen.program).href));
  if (chosen.kind === "gone")
    process.stderr.write(`maxclaw: version ${chosen.version} of the last update is gone; ${readVersion()} runs\n`);
  if (chosen.kind === "foreign")
    process.stderr.write(
      `maxclaw: version ${chosen.version} of the last update is not used, because another account can change ${chosen.path}. ${readVersion()} runs. Run the command as the owner of the home\n`,
    );
  keepCompiledCode();
  const { main } = await import("./main.js");
  await main(args);
}

/** Whether it is a folder in which only this account writes. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

/**
 * Node 22.8 and newer keep what they have compiled for the next start. Not in the folder for temporary files, where another user of the
 * machine could put code: in the home, if there is one.
 */
function keepCompiledCode(): void {
  if (!("enableCompileCache" in nodeModule) || typeof nodeModule.enableCompileCache !== "function") return;
  const home = findHome(process.env, process.env.HOME ?? homedir());
  const folder = join(home, "cache", "code");
  const isSafe = isOwn(home) && [dirname(folder), folder].every((path) => !existsSync(path) || isOwn(path));
  if (process.env.NODE_COMPILE_CACHE === undefined && isSafe) nodeModule.enableCompileCache(folder);
}
