import { type Exchange, paramOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { integerOf } from "../target.js";

export const turnRoutes: readonly Route[] = [
  { method: "GET", path: "/api/sessions/:key/turns", handle: list },
  {
    method: "GET",
    path: "/api/sessions/:key/turns/:id/timeline",
    handle: async (x) => sendJson(x.response, 200, await x.api.timeline(paramOf(x, "key"), paramOf(x, "id"))),
  },
  {
    method: "POST",
    path: "/api/sessions/:key/turns/:id/replay",
    handle: async (x) =>
      sendJson(x.response, 200, await x.api.replayTurn(paramOf(x, "key"), paramOf(x, "id"), x.signal)),
  },
  {
    method: "GET",
    path: "/api/sessions/:key/turns/:id/sent/:iteration",
    handle: sent,
  },
  {
    method: "GET",
    path: "/api/sessions/:key/context",
    handle: async (x) => sendJson(x.response, 200, await x.api.contextUse(paramOf(x, "key"))),
  },
];

async function list(x: Exchange): Promise<void> {
  const { query } = x.target;
  const before = integerOf(query, "before", { min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 });
  const limit = integerOf(query, "limit", { min: 1, max: 100, default: 30 });
  const page = await x.api.listTurns(paramOf(x, "key"), { limit, ...(before === 0 ? {} : { before }) });
  sendJson(x.response, 200, page);
}

async function sent(x: Exchange): Promise<void> {
  const iteration = Number(paramOf(x, "iteration"));
  const requests = await x.api.sentRequests(paramOf(x, "key"), paramOf(x, "id"), iteration);
  sendJson(x.response, 200, { requests });
}
