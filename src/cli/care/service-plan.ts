import { realpath, stat } from "node:fs/promises";
import { delimiter, dirname, isAbsolute, resolve } from "node:path";
import type { ServicePlan, ServiceScope } from "../../service/manager.js";
import type { RunProgram } from "../../service/programs.js";
import type { CommandContext } from "../context.js";
import { CommandError, exitCodes } from "../exit.js";

export interface PlanOptions {
  readonly scope: ServiceScope;
  /** As `--config` says. */
  readonly configPath?: string | undefined;
  /** As `--account` says. */
  readonly account?: string | undefined;
  readonly run: RunProgram;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our own program, as it was started. */
  readonly script: string | undefined;
}

const systemFolders = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** What a service runs: this very program, with this home. */
export async function planService(context: CommandContext, options: PlanOptions): Promise<ServicePlan> {
  const { home, loaded } = context;
  const { scope, configPath, env } = options;
  const script = await lastingScript(options.script);
  const { workspace } = loaded.config.agents.defaults;
  const account = scope === "user" ? undefined : await accountOf(home, options);
  const config = configPath === undefined ? [] : ["-c", resolve(configPath)];
  return {
    home,
    program: [process.execPath, script, "gateway", ...config],
    environment: { NODE_ENV: "production", PATH: searchPath(scope, env) },
    account,
    writable: workspace === home || workspace.startsWith(`${home}/`) ? [] : [workspace],
  };
}

/** `${NAME}` of the config that comes from this shell, where no service finds it. */
export function shellVariables({ loaded }: CommandContext, text: string, stored: readonly string[]): readonly string[] {
  const named = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = ""]) => name);
  const own = loaded.config.gateway.token === undefined ? [] : ["MAXCLAW_TOKEN"];
  return [...new Set([...named, ...own])].filter((name) => process.env[name] !== undefined && !stored.includes(name));
}

/** What npx has unpacked is gone one day. */
async function lastingScript(script: string | undefined): Promise<string> {
  if (script === undefined) throw new CommandError("It is not known where maxclaw is installed.");
  const real = await realpath(script);
  if (!real.split("/").includes("_npx")) return script;
  throw new CommandError(
    "npx keeps maxclaw for a while only, and a service needs it for good. Install it first: npm install --global maxclaw",
  );
}

/** A service does not read what a shell reads at login: programs that are found now are to be found there too. */
function searchPath(scope: ServiceScope, env: PlanOptions["env"]): string {
  const own = scope === "user" ? (env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder)) : [];
  return [...new Set([dirname(process.execPath), ...own, ...systemFolders])].join(delimiter);
}

/** Whose the home is, runs the gateway. */
async function accountOf(home: string, { account, run }: PlanOptions): Promise<string> {
  if (account !== undefined) {
    if (/^[a-z_][a-z0-9_.-]*\$?$/i.test(account) && (await run("id", ["-u", account]))?.code === 0) return account;
    throw new CommandError(
      `There is no account ${account}. Make one: useradd --system --create-home ${account}`,
      exitCodes.usage,
    );
  }
  const { uid } = await stat(home);
  const name = (await run("id", ["-nu", String(uid)]))?.stdout.trim() ?? "";
  if (name === "") throw new CommandError(`${home} belongs to no account (${uid}). Name one with --account.`);
  return name;
}
