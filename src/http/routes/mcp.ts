import { RequestError } from "../../errors.js";
import { paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

const noServer = { status: 404, code: "not_found" } as const;

/** The servers that tools come from. What their sections of the config hold is never shown. */
export const mcpRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/mcp",
    handle: (x) => {
      // All that are known are on; the last two are for clients of the Go maxclaw.
      const servers = (x.api.mcp?.list() ?? []).map((server) => ({ ...server, enabled: true, description: "" }));
      sendJson(x.response, 200, { servers });
    },
  },
  {
    method: "POST",
    path: "/api/mcp/:name/test",
    handle: async (x) => {
      const name = paramOf(x, "name");
      const result = await x.api.mcp?.test(name, x.signal);
      if (result === undefined) throw new RequestError(`There is no MCP server ${name}.`, noServer);
      const more = result.ok
        ? { count: result.tools.length, message: `Connected successfully, found ${result.tools.length} tools` }
        : { message: "Connection failed" };
      sendJson(x.response, 200, { name, ...result, ...more });
    },
  },
  {
    method: "POST",
    path: "/api/mcp/:name/reconnect",
    handle: (x) => {
      x.api.mcp?.reconnect(paramOf(x, "name"));
      sendJson(x.response, 200, { ok: true });
    },
  },
];
