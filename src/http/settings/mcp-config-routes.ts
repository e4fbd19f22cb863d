import { z } from "zod";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, paramOf, revisionOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { mcpSetupOf, settingsOf } from "./settings-of.js";

/** `null` takes one away. */
const texts = z.record(z.string(), z.string().nullable());
const fields = z.object({
  /** `sse` is how the Go maxclaw called everything with an address. */
  type: z.string().optional(),
  command: z.string().max(4096).optional(),
  args: z.array(z.string()).max(200).optional(),
  env: texts.optional(),
  url: z.string().max(4096).optional(),
  headers: texts.optional(),
  trusted: z.boolean().optional(),
  disabledTools: z.array(z.string()).max(2000).optional(),
});
const serverName = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/, "a server's name has up to 40 letters, digits, _, - and . only");
const added = fields.extend({ name: serverName });
const address = z.object({ address: z.string().trim().min(1).max(10_000) });

/** MCP servers of the config, at the paths of the Go maxclaw. A change is in force at once. */
export const mcpConfigRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/api/mcp",
    handle: async (x) => {
      const { name, ...server } = await bodyOf(x, added);
      const { known, revision } = await serversOf(x);
      if (Object.hasOwn(known, name))
        throw new RequestError(`There is an MCP server ${name} already.`, { status: 400, code: "bad_request" });
      await put(x, { ...known, [name]: toSection(server) }, name, revision);
    },
  },
  {
    method: "PUT",
    path: "/api/mcp/:name",
    handle: async (x) => {
      const server = await bodyOf(x, fields);
      const { known, revision, name } = await findServer(x);
      await put(x, { ...known, [name]: toSection(server) }, name, revision);
    },
  },
  {
    method: "DELETE",
    path: "/api/mcp/:name",
    handle: async (x) => {
      const { known, revision, name } = await findServer(x);
      const { [name]: _, ...rest } = known;
      const restart = await change(x, rest, revision);
      await x.api.setup?.mcp.forgetLogin(name);
      sendJson(x.response, 200, { ok: true, name, restart });
    },
  },
  { method: "POST", path: "/api/mcp/try", handle: tryServer },
  {
    method: "POST",
    path: "/api/mcp/:name/login",
    handle: async (x) => sendJson(x.response, 200, await mcpSetupOf(x).beginLogin(paramOf(x, "name"))),
  },
  {
    method: "GET",
    path: "/api/mcp/:name/login",
    handle: (x) => sendJson(x.response, 200, mcpSetupOf(x).loginState(paramOf(x, "name"))),
  },
  {
    method: "DELETE",
    path: "/api/mcp/:name/login",
    handle: (x) => {
      mcpSetupOf(x).endLogin(paramOf(x, "name"));
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "POST",
    path: "/api/mcp/:name/login/finish",
    handle: async (x) => {
      const sent = await bodyOf(x, address);
      sendJson(x.response, 200, await mcpSetupOf(x).finishLogin(paramOf(x, "name"), sent.address));
    },
  },
  { method: "POST", path: "/api/mcp/:name/enable", handle: (x) => enable(x, true) },
  { method: "POST", path: "/api/mcp/:name/disable", handle: (x) => enable(x, false) },
];

async function tryServer(x: Exchange): Promise<void> {
  const { name, ...server } = await bodyOf(x, added);
  sendJson(x.response, 200, await mcpSetupOf(x).tryServer(name, toSection(server), x.signal));
}

async function enable(x: Exchange, isEnabled: boolean): Promise<void> {
  const { known, revision, name } = await findServer(x);
  await put(x, { ...known, [name]: { ...Object(known[name]), enabled: isEnabled } }, name, revision);
}

type Servers = Readonly<Record<string, unknown>>;

async function serversOf(x: Exchange): Promise<{ readonly known: Servers; readonly revision: string }> {
  const { config, revision } = await settingsOf(x).read();
  const known: unknown = Reflect.get(Object(config.tools), "mcpServers");
  return { known: Object(known ?? {}), revision };
}

async function findServer(x: Exchange) {
  const name = paramOf(x, "name");
  const found = await serversOf(x);
  if (!Object.hasOwn(found.known, name))
    throw new RequestError(`There is no MCP server ${name} in the config.`, { status: 404, code: "not_found" });
  return { ...found, name };
}

async function put(x: Exchange, mcpServers: Servers, name: string, revision: string): Promise<void> {
  const restart = await change(x, mcpServers, revision);
  sendJson(x.response, 200, { ok: true, name, restart });
}

async function change(x: Exchange, mcpServers: Servers, revision: string): Promise<readonly string[]> {
  return (await settingsOf(x).change({ tools: { mcpServers } }, revisionOf(x) ?? revision)).restart;
}

/** The Go maxclaw's page sends what it does not use as empty. */
function toSection({ type: _, ...server }: z.infer<typeof fields>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(server).filter(([, value]) => value !== undefined && value !== ""));
}
