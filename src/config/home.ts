import { statSync } from "node:fs";
import { join, resolve } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folder that holds config, journal, logs and, unless configured elsewhere, the workspace: `$MAXCLAW_HOME`, else
 * `$NANOBOT_HOME`, whether they exist or not; else `~/.maxclaw` or `~/.nanobot`, the first that exists; else `~/.maxclaw`.
 */
export function findHome(env: Env, homedir: string): string {
  for (const named of [env.MAXCLAW_HOME, env.NANOBOT_HOME]) {
    if (named !== undefined && named.trim() !== "") return resolve(expandTilde(named.trim(), homedir));
  }
  const own = join(homedir, ".maxclaw");
  const older = join(homedir, ".nanobot");
  return !isFolder(own) && isFolder(older) ? older : own;
}

/** `~` and `~/…`, and `$HOME/…` as the Go maxclaw allowed it, as absolute paths. Anything else is returned as it is. */
export function expandTilde(path: string, homedir: string): string {
  for (const prefix of ["~", "$HOME"]) {
    if (path === prefix) return homedir;
    if (path.startsWith(`${prefix}/`)) return join(homedir, path.slice(prefix.length + 1));
  }
  return path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
