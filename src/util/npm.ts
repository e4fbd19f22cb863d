import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Fault } from "../errors.js";
import { programEnvironment } from "./program-environment.js";
import { counted } from "./text/counted.js";

/** npm did not do what it was asked for. */
export class NpmError extends Fault {
  /** What happened, and what to do: a sentence each. */
  readonly happened: string;
  readonly todo: string;

  constructor(happened: string, todo: string, options?: ErrorOptions) {
    super(`${happened} ${todo}`.trim(), options);
    this.happened = happened;
    this.todo = todo;
  }
}

export interface NpmOptions {
  /** Default 15 minutes. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Whose packages it is about. Default: the folder of this process. */
  readonly folder?: string;
}

const longestMs = 15 * 60_000;
/** Of what npm says, as much as can matter. */
const maxSaid = 50_000;
const always = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=warn",
  "--global=false",
];
/** Who waits for us has less patience than npm, unless they have told npm themselves. */
const patience = { "fetch-retry-mintimeout": 500, "fetch-retry-maxtimeout": 5000, "fetch-timeout": 60_000 };

/**
 * Runs npm, which runs no script of any package, and resolves with what it writes to its standard output.
 *
 * @throws {NpmError} in words; or the signal's reason
 */
export async function runNpm(args: readonly string[], options: NpmOptions = {}): Promise<string> {
  const { limitMs = longestMs, signal } = options;
  const nodeFolder = dirname(process.execPath);
  const beside = join(nodeFolder, "npm");
  // By another name than its own, npm takes a folder for a package that is to be installed into it.
  const folder = options.folder === undefined ? undefined : await realpath(options.folder);
  const env = programEnvironment();
  // The npm that belongs to this Node, also where the PATH of a service does not have it; and npm looks for a Node there.
  const searched = env.PATH ? `${nodeFolder}${delimiter}${env.PATH}` : nodeFolder;
  const where = folder === undefined ? [] : ["--prefix", folder];
  const child = spawn(existsSync(beside) ? beside : "npm", [...args, ...where, ...always, ...(await patienceOf(env))], {
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { ...env, PATH: searched },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
    signal,
  });
  const said = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      said[stream] = (said[stream] + text).slice(-maxSaid);
    });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", (error) => reject(signal?.aborted ? signal.reason : notStarted(error)));
    child.once("close", (status, ended) => resolve(status ?? ended ?? "unknown"));
  });
  signal?.throwIfAborted();
  if (child.killed)
    throw new NpmError(
      `npm got no full answer from the package registry within ${counted(Math.round(limitMs / 1000), "second")}.`,
      "Look at the network, and at which registry npm uses (npm config get registry).",
    );
  // On a full disk npm warns, leaves out what it could not write, and ends well.
  if (code !== 0 || /TAR_ENTRY_ERROR|ENOSPC/.test(said.stderr)) throw failure(said.stderr, code);
  return said.stdout;
}

/** An option would count more than people's own settings: only what they have not set is one. */
async function patienceOf(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const file = settingOf(env, "userconfig") ?? join(env.HOME ?? homedir(), ".npmrc");
  const theirs = await readFile(file, "utf8").catch(() => "");
  return Object.entries(patience)
    .filter(([name]) => settingOf(env, name) === undefined && !new RegExp(`^\\s*${name}\\s*=`, "m").test(theirs))
    .map(([name, ms]) => `--${name}=${ms}`);
}

/** npm takes its variables in any letters. */
function settingOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const wanted = `npm_config_${name.replaceAll("-", "_")}`;
  return Object.entries(env).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

function notStarted(error: Error): NpmError {
  return "code" in error && error.code === "ENOENT"
    ? new NpmError("npm, which downloads packages, was not found.", "Install npm, which belongs to Node.js.")
    : new NpmError(`npm could not be started: ${error.message}.`, "", { cause: error });
}

const offline = /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_\w+|EPIPE|ENOTCACHED)$/;
const refused = /^(?:EACCES|EPERM|EROFS)$/;
const changed = /EINTEGRITY|integrity checksum failed/i;
const damaged = /TAR_BAD_ARCHIVE|TAR_ABORT|TAR_ENTRY|zlib|ENOTDIR/i;
const again = "Run the command again.";
const whichRegistry = "look at which registry npm uses (npm config get registry).";
const aside = /^(?:A complete log of this run|Log files were not written|You can rerun the command|$)/;

/** The package, and its version where one was asked for. */
function askedFor(said: string): string {
  const asked = /'([^'\s]+)' (?:could not be found|is not in)|No matching version found for (\S+?)\.?$/m.exec(said);
  return (asked?.[1] ?? asked?.[2])?.replace(/@(?:\*|latest)$/, "") ?? "it";
}

/** What npm's own words come down to. */
function failure(said: string, code: number | string): NpmError {
  const named = /npm (?:error|ERR!) (?:code|errno) (\S+)/.exec(said)?.[1] ?? "";
  const byName = named === "" ? "" : ` (${named})`;
  if (/ENOSPC/.test(said)) return new NpmError("The disk is full.", "Free some space and run the command again.");
  if (refused.test(named)) {
    const where = /npm (?:error|ERR!) path (.+)/.exec(said)?.[1] ?? "its files";
    return new NpmError(
      `npm cannot write ${where} (${named}).`,
      "Let this account write there. If it is in npm's cache, name another folder for that: npm_config_cache=<folder>",
    );
  }
  if (/EROFS/.test(said)) return new NpmError("The disk cannot be written to: it is read-only.", "");
  if (named === "EBADENGINE")
    return new NpmError(
      `That version does not run on Node ${process.versions.node}.`,
      "Install a newer Node.js first.",
    );
  if (named === "ENOENT" || named === "ENOLOCAL") return new NpmError("The file does not exist.", "Check its name.");
  if (changed.test(said))
    return new NpmError(
      "The download is damaged: its hash is not the one that was expected.",
      `${again} If it fails again, ${whichRegistry}`,
    );
  if (damaged.test(said))
    return new NpmError(
      "The file is damaged, or it is not a package of npm.",
      `${again} If it fails again, get the file again.`,
    );
  if (/^(?:E404|ETARGET)$/.test(named))
    return new NpmError(
      `The package registry does not have ${askedFor(said)}${byName}.`,
      `To find out why, ${whichRegistry}`,
    );
  if (/^(?:E401|E403)$/.test(named))
    return new NpmError(`The package registry does not let us in${byName}.`, `To find out why, ${whichRegistry}`);
  if (/Invalid URL|Only HTTP\(S\)|unsupported URL protocol/i.test(said))
    return new NpmError("The address of the package registry is not a web address.", `Correct it: ${whichRegistry}`);
  if (offline.test(named) || /premature close|socket hang up|network|ERR_STREAM|aborted/i.test(said))
    return new NpmError(
      `The package registry could not be reached${byName}.`,
      "Look at the network and run the command again.",
    );
  const lines = said.split("\n").map((line) => line.replace(/^npm (?:error|warn|ERR!) ?/, "").trim());
  const help = lines.indexOf("Usage:");
  const last = (help === -1 ? lines : lines.slice(0, help)).filter((line) => !aside.test(line));
  // npm's help begins with what the command is for.
  if (help !== -1) last.pop();
  return new NpmError(`npm ended with ${code}. It says: ${last.slice(-3).join(" ") || "nothing"}`, "");
}
