import { paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

/** Everything that waits for a person. */
export const inboxRoutes: readonly Route[] = [
  { method: "GET", path: "/api/inbox", handle: async (x) => sendJson(x.response, 200, await x.api.inbox.list()) },
  {
    method: "POST",
    path: "/api/inbox/:id/dismiss",
    handle: async (x) => {
      await x.api.inbox.dismiss(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true });
    },
  },
];
