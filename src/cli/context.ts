import { homedir } from "node:os";
import { resolve } from "node:path";
import type { LoadedConfig } from "../config/load.js";

/** Where a command runs: its home, and the config that is in force there. */
export interface CommandContext {
  readonly home: string;
  readonly loaded: LoadedConfig;
}

/**
 * @throws {CommandError} for a home that a restore has left halfway
 * @throws {ConfigError} when `configPath` names no file
 */
export async function openContext(configPath?: string): Promise<CommandContext> {
  const context = await findContext(configPath);
  await assertWhole(context.home);
  return context;
}

/** @throws {CommandError} for a home that a restore has left halfway */
export async function assertWhole(home: string): Promise<void> {
  const [{ unfinishedRestore }, { CommandError, exitCodes }] = await Promise.all([
    import("../offline/unfinished.js"),
    import("./exit.js"),
  ]);
  const problem = unfinishedRestore(home);
  if (problem !== undefined) throw new CommandError(problem, exitCodes.damaged);
}

/** The same of any home: for who names what is wrong with it. @throws {ConfigError} when `configPath` names no file */
export async function findContext(configPath?: string): Promise<CommandContext> {
  const [{ findHome }, { loadConfig }] = await Promise.all([import("../config/home.js"), import("../config/load.js")]);
  const { env } = process;
  const home = findHome(env, env.HOME ?? homedir());
  const loaded = await loadConfig({
    home,
    configPath: configPath === undefined ? undefined : resolve(configPath),
    env,
  });
  return { home, loaded };
}

/** The zone that times are shown in: of the config, else of this machine. */
export async function findTimeZone(): Promise<string> {
  const { loaded } = await openContext();
  const { ownTimeZone } = await import("../util/local-time.js");
  return loaded.config.agents.defaults.timezone ?? ownTimeZone();
}
