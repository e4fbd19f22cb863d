import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { programEnvironment } from "../util/program-environment.js";
import { PackageError } from "./error.js";

const limitMs = 15 * 60_000;
/** Of what npm says, as much as can matter. */
const maxSaid = 20_000;
const unchanged = "Nothing was changed.";

/**
 * Installs what the package-lock.json of a folder names, and nothing else: each package is checked against its hash there, and none
 * of their scripts is run.
 *
 * @throws {PackageError} in words, with what to do
 */
export async function installLocked(folder: string): Promise<void> {
  const beside = join(dirname(process.execPath), "npm");
  const npm = existsSync(beside) ? beside : "npm";
  const child = spawn(npm, ["ci", "--prefix", folder, ...npmFlags], {
    cwd: folder,
    env: programEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
    timeout: limitMs,
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-maxSaid);
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", (error) => reject(notStarted(error)));
    child.once("close", (status, signal) => resolve(status ?? signal ?? "unknown"));
  });
  if (code !== 0) throw failure(said, code);
}

const npmFlags = [
  ...["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
  ...["--global=false", "--omit=dev", "--include=optional", "--install-strategy=hoisted"],
  ...["--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=5000", "--fetch-timeout=60000"],
];

function notStarted(error: Error): PackageError {
  return "code" in error && error.code === "ENOENT"
    ? new PackageError(
        `npm was not found, which downloads packages. ${unchanged} Install npm, which belongs to Node.js.`,
      )
    : new PackageError(`npm could not be started: ${error.message}. ${unchanged}`, { cause: error });
}

const offline = /^(?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_\w+|EPIPE|ENOTCACHED)$/;

/** What npm's own words come down to. */
function failure(said: string, code: number | string): PackageError {
  const named = /npm (?:error|ERR!) (?:code|errno) (\S+)/.exec(said)?.[1] ?? "";
  if (named === "EINTEGRITY" || /EINTEGRITY|integrity checksum failed|TAR_BAD_ARCHIVE|TAR_ABORT/.test(said))
    return new PackageError(
      `What the package registry sent is not what this version of maxclaw was tested with: its hash differs. ${unchanged} Run the command again. If it fails again, look at which registry npm uses (npm config get registry).`,
    );
  if (named === "ENOSPC" || /ENOSPC/.test(said))
    return new PackageError(`The disk is full. ${unchanged} Free some space and run the command again.`);
  if (/^(?:E404|ETARGET|E401|E403)$/.test(named))
    return new PackageError(
      `The package registry does not give out the packages (${named}). ${unchanged} Look at which registry npm uses: npm config get registry`,
    );
  if (offline.test(named) || /premature close|socket hang up|network/i.test(said))
    return new PackageError(
      `The package registry could not be reached${named === "" ? "" : ` (${named})`}. ${unchanged} Look at the network and run the command again.`,
    );
  const last = said
    .split("\n")
    .map((line) => line.replace(/^npm (?:error|ERR!) ?/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("A complete log of this run"))
    .slice(-3);
  return new PackageError(
    `npm could not install the packages (${code}). ${unchanged} It says: ${last.join(" ") || "nothing"}`,
  );
}
