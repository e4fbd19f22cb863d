import { existsSync } from "node:fs";
import type { CommandContext } from "../context.js";
import { CommandError } from "../exit.js";
import { printNote } from "../text/output.js";
import type { ApiClient } from "./api-client.js";

/** Looks at what is there, changes what is there, or may begin something new. */
type Purpose = "look" | "change" | "begin";

/**
 * Runs an action on the gateway that runs, or on one of our own that stops right after it. Only what begins something makes
 * a home where there is none; what looks works also where nothing can be written.
 */
export async function withClient<T>(
  version: string,
  purpose: Purpose,
  action: (client: ApiClient, isOwn: boolean) => Promise<T>,
): Promise<T> {
  const [{ openContext }, { connect, connectRunning }] = await Promise.all([
    import("../context.js"),
    import("./connect.js"),
  ]);
  const context = await openContext();
  const how = { version, graceMs: 0, isWorking: false };
  const running = await connectRunning(context);
  if (running !== undefined) return await action(running, false);
  const copy = await copyToLookAt(context, purpose);
  if (copy === undefined) {
    await using connection = await connect(context, how);
    return await action(connection.client, connection.isOwn);
  }
  await using held = copy;
  await using connection = await connect(held, how);
  return await action(connection.client, true);
}

export function nothingYet(home: string): string {
  return `There is nothing at ${home} yet. Begin with: maxclaw onboard`;
}

/** Undefined where the home itself is used. @throws {CommandError} nothing is there that could be changed */
async function copyToLookAt(
  context: CommandContext,
  purpose: Purpose,
): Promise<(CommandContext & AsyncDisposable) | undefined> {
  const { home } = context;
  const isThere = existsSync(home);
  const begin = nothingYet(home);
  if (!isThere && purpose === "change") throw new CommandError(begin);
  if (purpose !== "look") return undefined;
  const { copyHome, whyNotWritable } = await import("../../offline/home-copy.js");
  const { loaded } = context;
  const { config } = loaded;
  const { agents } = config;
  const files = { home, workspace: agents.defaults.workspace };
  if (!isThere) printNote(begin);
  else if ((await whyNotWritable(files)) === undefined) return undefined;
  const copy = await copyHome(files);
  const defaults = { ...agents.defaults, workspace: copy.workspace };
  return {
    home: copy.home,
    loaded: { ...loaded, config: { ...config, agents: { ...agents, defaults } } },
    [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
  };
}
