import { paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

/** Messages and replies that were given up. */
export const deadRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/dead",
    handle: async (x) => sendJson(x.response, 200, { letters: await x.api.dead.list() }),
  },
  {
    method: "GET",
    path: "/api/dead/:id",
    handle: async (x) => sendJson(x.response, 200, await x.api.dead.show(paramOf(x, "id"))),
  },
  {
    method: "POST",
    path: "/api/dead/:id/redrive",
    handle: async (x) => {
      await x.api.dead.redrive(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "DELETE",
    path: "/api/dead/:id",
    handle: async (x) => {
      await x.api.dead.drop(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true });
    },
  },
];
