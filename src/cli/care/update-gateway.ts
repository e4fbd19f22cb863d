import { spawn } from "node:child_process";
import { z } from "zod";
import { holderOf } from "../../offline/running-gateway.js";
import { thisAccount } from "../../service/account.js";
import { ServiceError, type ServiceManager } from "../../service/manager.js";
import { openManager, withRuntimeFolder } from "../../service/open-manager.js";
import { createRunProgram } from "../../service/programs.js";
import type { GatewayPort } from "../../update/health.js";
import { endsWith, inOwnUnit } from "../../update/own-scope.js";
import type { CommandContext } from "../context.js";
import { CommandError } from "../exit.js";
import { connectRunning } from "../gateway/connect.js";
import { print, printNote } from "../text/output.js";

const status = z.object({ pid: z.number(), version: z.string(), state: z.string() });

export interface RestartFlags {
  /** A command that does it; false: it is not restarted. */
  readonly restart?: string | boolean;
  /** Of the service. */
  readonly name: string;
}

export async function gatewayOf(context: CommandContext, { restart, name }: RestartFlags): Promise<GatewayPort> {
  return {
    async look() {
      const client = await connectRunning(context);
      if (client === undefined) return undefined;
      const { state, ...found } = status.parse(await client.get("/api/status"));
      return { ...found, isReady: state === "ready" };
    },
    restart: restart === false ? undefined : await restartOf(context, restart, name),
  };
}

async function restartOf(
  { home }: CommandContext,
  command: string | boolean | undefined,
  name: string,
): Promise<GatewayPort["restart"]> {
  if (typeof command === "string") return () => runCommand(command);
  const manager = await serviceOf(home, name);
  if (manager !== undefined) return () => manager.restart();
  const holder = await holderOf(home);
  if (holder !== undefined)
    printNote(
      `The gateway (pid ${holder.pid}) was not started by a service that maxclaw has installed: it goes on as it is until you start it again. With --restart <command> the update does that, and goes back if it does not come up.`,
    );
  return undefined;
}

/** The service that runs the gateway of this home. @throws {CommandError} where this account may not restart it */
async function serviceOf(home: string, name: string): Promise<ServiceManager | undefined> {
  const { env } = process;
  const account = thisAccount(env);
  const run = createRunProgram(withRuntimeFolder(env, account.uid), new AbortController().signal);
  for (const scope of ["user", "system"] as const) {
    try {
      const manager = openManager({ scope, name, run, env, ...account });
      if ((await manager.installedHome()) !== home) continue;
      if (scope === "user" || account.uid === 0) return manager;
    } catch (error) {
      // No manager of services is there, so that none runs the gateway.
      if (error instanceof ServiceError) continue;
      throw error;
    }
    throw new CommandError(
      `The gateway is a service of the machine, which only root restarts. Either: maxclaw update --no-restart, and then: sudo maxclaw service restart --system. Or give a command that may: --restart "sudo -n systemctl restart ${name}"`,
    );
  }
  return undefined;
}

async function runCommand(command: string): Promise<void> {
  const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", 2, 2] });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (status, signal) => resolve(status ?? signal ?? "unknown"));
  });
  if (code !== 0) throw new Error(`"${command}" ended with ${code}`);
}

/**
 * Where this command would be ended with the service that it restarts, as when the gateway itself runs it: starts it again in a unit of its
 * own. True: it goes on there. @throws {CommandError} where that is not possible
 */
export async function leaveService({ home }: CommandContext, release: () => void): Promise<boolean> {
  const holder = await holderOf(home);
  if (holder === undefined || holder.elsewhere !== undefined || !endsWith(holder.pid)) return false;
  const { env, execPath, argv } = process;
  const names = ["PATH", "HOME", "MAXCLAW_HOME", "NANOBOT_HOME", "MAXCLAW_TOKEN", "XDG_RUNTIME_DIR"];
  const variables = names.filter((name) => env[name] !== undefined);
  const [program, ...args] = inOwnUnit([execPath, ...argv.slice(1)], variables);
  release();
  const started = await createRunProgram(env, new AbortController().signal)(program, args);
  if (started?.code !== 0)
    throw new CommandError(
      "This command runs inside of the service that it has to restart, and would be ended with it. Run it in a terminal of your own.",
    );
  print(`The update goes on by itself, outside of the service. What it does: ${home}/updates.jsonl`);
  return true;
}
