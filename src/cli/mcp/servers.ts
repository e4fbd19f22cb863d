import { z } from "zod";
import { createMask } from "../../log/mask.js";
import { type McpServerSettings, toServerSettings } from "../../mcp/settings.js";
import { type CommandContext, openContext } from "../context.js";
import { CommandError, exitCodes } from "../exit.js";
import { segment } from "../gateway/api-client.js";
import { connectRunning } from "../gateway/connect.js";
import { harmless, print, printJson, printNote, printTable } from "../text/output.js";

const loginMs = 300_000;

const answer = z.object({
  servers: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      state: z.string(),
      reason: z.string().optional(),
      tools: z.array(z.string()),
    }),
  ),
});

export async function listServers({ json }: { readonly json?: true }): Promise<void> {
  const context = await openContext();
  const settings = serversOf(context);
  const client = await connectRunning(context);
  const live = new Map(
    (client === undefined ? [] : answer.parse(await client.get("/api/mcp")).servers).map((one) => [one.name, one]),
  );
  // Keys may have been filled in.
  const mask = createMask(context.loaded.secrets);
  const rows = settings.map(({ name, command, args, url, type }) => {
    const now = live.get(name);
    return {
      name,
      type: now?.type ?? (command === undefined ? (type ?? "http") : "stdio"),
      state: now?.state ?? (client === undefined ? "no gateway is running" : "not known to the running gateway"),
      ...(now?.reason === undefined ? {} : { reason: mask(now.reason) }),
      tools: now?.tools.length,
      target: mask(url ?? [command, ...args].join(" ")),
    };
  });
  if (json) return printJson({ servers: rows });
  if (rows.length === 0) return print("No server is configured. Add one: maxclaw mcp add --help");
  printTable(
    ["NAME", "TYPE", "STATE", "TOOLS", "TARGET"],
    rows.map((row) => [
      row.name,
      row.type,
      row.reason === undefined ? row.state : `${row.state}: ${row.reason}`,
      row.tools === undefined ? "" : String(row.tools),
      row.target,
    ]),
  );
}

export async function testServers(
  name: string | undefined,
  { json }: { readonly json?: true },
  version: string,
): Promise<void> {
  const context = await openContext();
  const chosen = name === undefined ? serversOf(context) : [serverOf(context, name)];
  const { tryServer } = await import("../../mcp/try-server.js");
  const { config, secrets } = context.loaded;
  const gateway = { home: context.home, workspace: config.agents.defaults.workspace, version, secrets };
  const signal = new AbortController().signal;
  const outcomes = await Promise.all(
    chosen.map(async (server) => ({
      name: server.name,
      ...(await tryServer(server, gateway, signal)),
    })),
  );
  if (json) printJson({ servers: outcomes });
  else if (outcomes.length === 0) print("No server is configured. Add one: maxclaw mcp add --help");
  else
    for (const one of outcomes) {
      if (!one.ok) print(`${one.name}: failed: ${harmless(one.reason)}`);
      else
        print(
          `${one.name}: ok, ${one.transport}, ${one.ms} ms, ${one.tools.length} tools: ${harmless(one.tools.join(", "))}`,
        );
    }
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = exitCodes.failure;
}

export async function logInAt(name: string, port: number, version: string): Promise<void> {
  const context = await openContext();
  const server = serverOf(context, name);
  const [{ logIn }, { createLoginStore }] = await Promise.all([
    import("../../mcp/auth/login.js"),
    import("../../mcp/auth/oauth.js"),
  ]);
  const wantsLogin = await logIn(
    server,
    {
      version,
      port,
      store: createLoginStore(context.home),
      timeoutMs: loginMs,
      open: (url, scope) => {
        if (scope !== undefined) printNote(`${name} needs more rights than this login has: ${harmless(scope)}`);
        printNote(`Open this address in a browser on this machine:\n\n${url}\n`);
      },
    },
    new AbortController().signal,
  );
  print(wantsLogin ? `Logged in at ${name}.` : `${name} needs no login.`);
  const client = await connectRunning(context).catch(() => undefined);
  await client?.post(`/api/mcp/${segment(name)}/reconnect`, {}).catch(() => undefined);
}

function serversOf({ loaded }: CommandContext): readonly McpServerSettings[] {
  return toServerSettings(loaded.config.tools.mcpServers);
}

function serverOf(context: CommandContext, name: string): McpServerSettings {
  const servers = serversOf(context);
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const problem = context.loaded.problems.find((one) => one.includes(`mcpServers.${name}`));
  const known = servers.length === 0 ? "none is configured" : `there are ${servers.map((one) => one.name).join(", ")}`;
  throw new CommandError(problem ?? `There is no MCP server ${name}: ${known}.`);
}
