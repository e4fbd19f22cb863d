import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { programEnvironment } from "../util/program-environment.js";
import { programIn } from "./current.js";
import { UpdateError } from "./error.js";
import type { Staged } from "./install.js";

const limitMs = 10 * 60_000;
/** How the machine is set up: its time, its language, where its libraries and temporary files are. */
const needed = ["TZ", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"];

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts a version that is not in use yet, on a copy of the home: does it run at all, read the config, and open what is stored?
 * The copy is spoiled by this.
 *
 * @throws {UpdateError} where it does not
 */
export async function tryVersion({ version, folder }: Staged, copy: string, signal: AbortSignal): Promise<void> {
  const run = (args: readonly string[]): Promise<Ran> => runProgram(programIn(folder), args, copy, signal);
  const refuse = (what: string, { code, stderr }: Ran): never => {
    throw new UpdateError(
      `Version ${version} ${what} (${code ?? "it was ended"}): ${stderr.trim().split("\n").slice(0, 3).join(" ").slice(0, 600) || "it says nothing"}`,
    );
  };
  const shown = await run(["--version"]);
  if (shown.code !== 0 || shown.stdout.trim() !== version) refuse("does not start here", shown);
  // 1 says that something is wrong with the gateway, as it may have been before.
  const status = await run(["status", "--json"]);
  if ((status.code !== 0 && status.code !== 1) || !isJson(status.stdout)) refuse("cannot use the config", status);
  // With the config in place it would work in a workspace elsewhere, which is not a copy.
  await writeFile(join(copy, "config.json"), "{}", { mode: 0o600 });
  const opened = await run(["sessions", "list", "--json"]);
  if (opened.code !== 0 || !isJson(opened.stdout)) refuse("cannot open what is stored", opened);
}

function runProgram(program: string, args: readonly string[], home: string, signal: AbortSignal): Promise<Ran> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...args],
      {
        env: environmentFor(home),
        timeout: limitMs,
        killSignal: "SIGKILL",
        maxBuffer: 256 * 1024 * 1024,
        signal,
      },
      (error, stdout, stderr) => {
        if (signal.aborted) return reject(signal.reason);
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : null, stdout, stderr });
      },
    );
  });
}

/** Nobody has judged this version yet: it gets no key, no token and no address of the caller's. */
function environmentFor(home: string): NodeJS.ProcessEnv {
  const { PATH, ...all } = programEnvironment();
  const kept = needed.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]] as const]));
  return { ...Object.fromEntries(kept), PATH, HOME: home, MAXCLAW_HOME: home };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
