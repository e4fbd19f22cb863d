import { join } from "node:path";
import { CommandError, exitCodes } from "../exit.js";
import { existingConfig } from "../gateway/config-file.js";
import { print } from "../text/output.js";

/** What `mcp add` is told besides a name and a command. */
export interface NewServer {
  readonly url?: string;
  readonly type?: "http" | "sse";
  readonly env: readonly (readonly [string, string])[];
  readonly header: readonly (readonly [string, string])[];
  readonly trusted?: true;
  readonly force?: true;
}

const serverKeys = [["tools", "mcpServers"], ["mcpServers"]] as const;

export async function addServer(name: string, command: readonly string[], flags: NewServer): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/.test(name))
    throw new CommandError("A server's name has up to 40 letters, digits, _, - and . only.", exitCodes.usage);
  const [program, ...args] = command;
  if ((program === undefined) === (flags.url === undefined))
    throw new CommandError("Say either what starts the server (-- command …) or where it is (--url).", exitCodes.usage);
  if (flags.url !== undefined && !/^https?:\/\/\S+$/.test(flags.url))
    throw new CommandError("The address must begin with http:// or https://.", exitCodes.usage);
  const file = await configFile();
  const found = await findServer(file, name);
  if (found !== undefined && flags.force !== true)
    throw new CommandError(`${file} has a server ${name} already. Replace it with --force.`);
  const section = {
    ...(program === undefined ? { url: flags.url } : { command: program }),
    ...(args.length === 0 ? {} : { args }),
    ...(flags.type === undefined ? {} : { type: flags.type }),
    ...(flags.env.length === 0 ? {} : { env: Object.fromEntries(flags.env) }),
    ...(flags.header.length === 0 ? {} : { headers: Object.fromEntries(flags.header) }),
    ...(flags.trusted === undefined ? {} : { trusted: true }),
  };
  const { editConfig } = await import("../../config/edit.js");
  await editConfig(file, [{ path: [...(found ?? serverKeys[0]), name], value: section }]);
  print(`${name} is in ${file}. Try it: maxclaw mcp test ${name}`);
  await printEffect(file, name);
}

export async function removeServer(name: string): Promise<void> {
  const file = await configFile();
  const found = await findServer(file, name);
  if (found === undefined) throw new CommandError(`${file} has no server ${name}.`);
  const [{ editConfig }, { createLoginStore }, { openContext }] = await Promise.all([
    import("../../config/edit.js"),
    import("../../mcp/auth/oauth.js"),
    import("../context.js"),
  ]);
  await editConfig(file, [{ path: [...found, name] }]);
  await createLoginStore((await openContext()).home).remove(name);
  print(`${name} was removed from ${file}.`);
  await printEffect(file, name);
}

async function configFile(): Promise<string> {
  const { openContext } = await import("../context.js");
  const { home } = await openContext();
  return existingConfig(home) ?? join(home, "config.json");
}

/** Where a server of this name is, if anywhere. */
async function findServer(file: string, name: string): Promise<readonly string[] | undefined> {
  const { readRaw } = await import("../../config/edit.js");
  for (const key of serverKeys) if ((await readRaw(file, [...key, name])) !== undefined) return key;
  return undefined;
}

/** Whether the running gateway uses it already. */
async function printEffect(file: string, name: string): Promise<void> {
  const [{ openContext }, { describeEffect }] = await Promise.all([
    import("../context.js"),
    import("../gateway/config-effect.js"),
  ]);
  const effect = await describeEffect(await openContext(), file, [`tools.mcpServers.${name}`]).catch(() => undefined);
  if (effect !== undefined) print(effect);
}
