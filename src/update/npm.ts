import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programEnvironment } from "../util/program-environment.js";
import { UpdateError } from "./error.js";
import { isVersion } from "./version-order.js";

const name = "maxclaw";
const lookLimitMs = 60_000;
const installLimitMs = 15 * 60_000;
/** Of what npm says, as much as can matter. */
const maxSaid = 50_000;

const fetching = [
  "--prefer-online",
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=5000",
  "--fetch-timeout=60000",
];
const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=warn", "--global=false", ...fetching];
const installing = ["--ignore-scripts", "--omit=dev", "--engine-strict", "--install-strategy=hoisted", "--no-save"];

/** The newest version that the registry of npm has. @throws {UpdateError} */
export async function newestVersion(signal: AbortSignal): Promise<string> {
  // Where the registry cannot be reached npm would give what it has kept of an older look.
  const cache = await mkdtemp(join(tmpdir(), "maxclaw-look-"));
  const said = await runNpm(["view", `${name}@latest`, "version", "--cache", cache, ...quiet], {
    limitMs: lookLimitMs,
    signal,
  }).finally(() => rm(cache, { recursive: true, force: true }));
  const version = said.trim();
  if (isVersion(version)) return version;
  throw new UpdateError(
    `The package registry names no version of maxclaw. Look at which registry npm uses: npm config get registry`,
  );
}

/** What to install: a version from the registry, or a packed file. */
export type Origin = { readonly version: string } | { readonly file: string };

/** Has npm install maxclaw into a folder, without running any script of a package. @throws {UpdateError} */
export async function installInto(folder: string, origin: Origin, signal: AbortSignal): Promise<void> {
  const wanted = "file" in origin ? origin.file : `${name}@${origin.version}`;
  await runNpm(["install", "--prefix", folder, ...installing, ...quiet, wanted], {
    limitMs: installLimitMs,
    signal,
    cwd: folder,
  });
}

interface NpmOptions {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly cwd?: string;
}

async function runNpm(args: readonly string[], { limitMs, signal, cwd }: NpmOptions): Promise<string> {
  // The one that belongs to this Node, also where the PATH of a service does not have it.
  const beside = join(dirname(process.execPath), "npm");
  const child = spawn(existsSync(beside) ? beside : "npm", [...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: programEnvironment(),
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
    child.once("error", (error) => reject(signal.aborted ? signal.reason : notStarted(error)));
    child.once("close", (status, ended) => resolve(status ?? ended ?? "unknown"));
  });
  signal.throwIfAborted();
  // On a full disk npm warns, leaves out what it could not write, and ends well.
  if (code !== 0 || /TAR_ENTRY_ERROR|ENOSPC/.test(said.stderr)) throw failure(said.stderr, code);
  return said.stdout;
}

function notStarted(error: Error): UpdateError {
  return "code" in error && error.code === "ENOENT"
    ? new UpdateError("npm was not found, which downloads the program. Install npm, which belongs to Node.js.")
    : new UpdateError(`npm could not be started: ${error.message}.`, { cause: error });
}

const offline = /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_\w+|EPIPE|ENOTCACHED)$/;

/** What npm's own words come down to. */
function failure(said: string, code: number | string): UpdateError {
  const named = /npm (?:error|ERR!) (?:code|errno) (\S+)/.exec(said)?.[1] ?? "";
  if (/ENOSPC/.test(said)) return new UpdateError("The disk is full. Free some space, and run the command again.");
  if (/EROFS/.test(said)) return new UpdateError("The disk cannot be written to: it is read-only.");
  if (named === "EBADENGINE")
    return new UpdateError(
      `That version does not run on Node ${process.versions.node}. Install a newer Node.js first.`,
    );
  if (named === "ENOENT" || named === "ENOLOCAL") return new UpdateError("The file does not exist. Check --from.");
  if (/EINTEGRITY|integrity checksum failed|TAR_BAD_ARCHIVE|TAR_ABORT|TAR_ENTRY|zlib/i.test(said))
    return new UpdateError(
      "The download is damaged. Run the command again; if it fails again: npm config get registry",
    );
  if (/^(?:E404|ETARGET|E401|E403)$/.test(named))
    return new UpdateError(
      `The package registry does not have it (${named}). Look at which registry npm uses: npm config get registry`,
    );
  if (offline.test(named) || /premature close|socket hang up|network|ERR_STREAM|aborted/i.test(said))
    return new UpdateError(
      `The package registry could not be reached${named === "" ? "" : ` (${named})`}. Look at the network, and run the command again.`,
    );
  const last = said
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|warn|ERR!) ?/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("A complete log of this run"))
    .slice(0, 3);
  return new UpdateError(`npm could not install it (${code}). It says: ${last.join(" ") || "nothing"}`);
}
