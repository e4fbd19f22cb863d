import { z } from "zod";
import { sendArtifact } from "../artifacts.js";
import { openEventStream } from "../event-stream.js";
import { bodyOf, type Exchange, optionalBodyOf, paramOf, sendJson } from "../exchange.js";
import { toStatusWire } from "../status-wire.js";
import { integerOf, isTrue } from "../target.js";
import type { Route } from "./routes.js";

const maxSequence = Number.MAX_SAFE_INTEGER;
const createBody = z.object({
  key: z.string().min(1).max(300).optional(),
  title: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
  cwd: z.string().max(4096).optional(),
});
const renameBody = z.object({ title: z.string().trim().min(1).max(200) });
const forkBody = z.object({ at: z.number().int().optional() });

export const sessionRoutes: readonly Route[] = [
  { method: "GET", path: "/api/sessions", handle: list },
  { method: "POST", path: "/api/sessions", handle: create },
  {
    method: "GET",
    path: "/api/sessions/:key",
    handle: async (x) => sendJson(x.response, 200, await x.api.getSession(paramOf(x, "key"))),
  },
  { method: "DELETE", path: "/api/sessions/:key", handle: remove },
  { method: "POST", path: "/api/sessions/:key/rename", handle: rename },
  {
    method: "POST",
    path: "/api/sessions/:key/stop",
    handle: async (x) => sendJson(x.response, 200, await x.api.stopTurn(paramOf(x, "key"))),
  },
  { method: "POST", path: "/api/sessions/:key/abort", handle: abort },
  { method: "POST", path: "/api/sessions/:key/complete", handle: complete },
  { method: "POST", path: "/api/sessions/:key/fork", handle: fork },
  { method: "GET", path: "/api/sessions/:key/status", handle: status },
  { method: "GET", path: "/api/sessions/:key/messages", handle: messages },
  { method: "GET", path: "/api/sessions/:key/usage", handle: usage },
  { method: "GET", path: "/api/sessions/:key/events", handle: events },
  { method: "GET", path: "/api/sessions/:key/artifacts/:id", handle: sendArtifact },
  { method: "GET", path: "/api/sessions/:key/stream", tokenInQuery: true, handle: stream },
];

async function list({ api, response, target: { query } }: Exchange): Promise<void> {
  const page = await api.listSessions({
    channel: query.get("channel") ?? undefined,
    chatId: query.get("chat_id") ?? undefined,
    limit: integerOf(query, "limit", { min: 1, max: 1000, default: 200 }),
    offset: integerOf(query, "offset", { min: 0, max: maxSequence, default: 0 }),
  });
  sendJson(response, 200, page);
}

async function create(x: Exchange): Promise<void> {
  const created = await x.api.createSession(await bodyOf(x, createBody));
  sendJson(x.response, created.reused ? 200 : 201, created);
}

async function remove(x: Exchange): Promise<void> {
  const key = paramOf(x, "key");
  await x.api.deleteSession(key);
  sendJson(x.response, 200, { ok: true, key });
}

async function rename(x: Exchange): Promise<void> {
  const key = paramOf(x, "key");
  const { title } = await bodyOf(x, renameBody);
  await x.api.renameSession(key, title);
  sendJson(x.response, 200, { ok: true, key, title });
}

async function abort(x: Exchange): Promise<void> {
  const key = paramOf(x, "key");
  await x.api.abortSession(key);
  sendJson(x.response, 200, { ok: true, key, state: "aborted" });
}

async function complete(x: Exchange): Promise<void> {
  const key = paramOf(x, "key");
  await x.api.completeSession(key);
  sendJson(x.response, 200, { ok: true, key, state: "completed" });
}

async function fork(x: Exchange): Promise<void> {
  const { at } = await optionalBodyOf(x, forkBody);
  sendJson(x.response, 201, await x.api.forkSession(paramOf(x, "key"), at));
}

async function status(x: Exchange): Promise<void> {
  const { query } = x.target;
  const found = await x.api.sessionStatus(paramOf(x, "key"), {
    includeRecovery: isTrue(query.get("include_recovery")),
    fromSequence: integerOf(query, "from_sequence", { min: 0, max: maxSequence, default: 0 }),
  });
  sendJson(x.response, 200, toStatusWire(found));
}

async function messages(x: Exchange): Promise<void> {
  const document = await x.api.getSession(paramOf(x, "key"));
  sendJson(x.response, 200, { messages: document.messages });
}

async function usage(x: Exchange): Promise<void> {
  sendJson(x.response, 200, await x.api.sessionUsage(paramOf(x, "key")));
}

async function events(x: Exchange): Promise<void> {
  const { query } = x.target;
  const page = await x.api.events(paramOf(x, "key"), {
    fromSequence: integerOf(query, "from_sequence", { min: 0, max: maxSequence, default: 0 }),
    limit: integerOf(query, "limit", { min: 1, max: 10_000, default: 1000 }),
  });
  sendJson(x.response, 200, { events: page.events, has_more: page.hasMore });
}

async function stream(x: Exchange): Promise<void> {
  const { query } = x.target;
  // A browser that reconnects repeats the old query and says in the header how far it got.
  const lastId = x.request.headers["last-event-id"];
  if (typeof lastId === "string" && lastId !== "") query.set("from_sequence", lastId);
  const fromSequence = query.has("from_sequence")
    ? integerOf(query, "from_sequence", { min: 0, max: maxSequence, default: 0 })
    : undefined;
  const types = query.get("types") || undefined;
  using out = openEventStream(x);
  const subscription = x.api.subscribe(paramOf(x, "key"), { fromSequence, types: types?.split(",") }, (event) =>
    out.send({ id: event.seq ?? undefined, event: event.type, data: JSON.stringify(event) }),
  );
  try {
    out.begin();
    // An unreadable past ends the answer; the client comes back after a while.
    await Promise.race([out.closed, subscription.caughtUp.then(() => out.closed)]);
  } finally {
    subscription.close();
  }
}
