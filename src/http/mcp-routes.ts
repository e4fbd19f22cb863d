import { paramOf, sendJson } from "./exchange.js";
import type { Route } from "./routes.js";

/** The servers that tools come from. What their sections of the config hold is never shown. */
export const mcpRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/mcp",
    handle: (x) => sendJson(x.response, 200, { servers: x.api.mcp?.list() ?? [] }),
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
