import { z } from "zod";
import type { CommandName } from "../../api/commands/command-params.js";
import type { CommandResults } from "../../api/commands/commands-api.js";
import { sendArtifact, sendReceived } from "../artifacts.js";
import { ask, followed, toSnake } from "../ask.js";
import { openEventStream } from "../event-stream.js";
import { bodyOf, type Exchange, optionalBodyOf, paramOf, sendJson } from "../exchange.js";
import { toStatusWire } from "../status-wire.js";
import { integerOf, isTrue, numberOf } from "../target.js";
import type { Route } from "./routes.js";
import { sendExport } from "./session-export.js";

const maxSequence = Number.MAX_SAFE_INTEGER;
const anyBody = z.record(z.string(), z.unknown());

export const sessionRoutes: readonly Route[] = [
  { method: "GET", path: "/api/sessions", handle: list },
  { method: "POST", path: "/api/sessions", handle: create },
  {
    method: "GET",
    path: "/api/sessions/:key",
    handle: async (x) => sendJson(x.response, 200, await x.api.getSession(paramOf(x, "key"))),
  },
  { method: "DELETE", path: "/api/sessions/:key", handle: remove },
  { method: "GET", path: "/api/search", handle: search },
  { method: "PUT", path: "/api/sessions/:key/marks", handle: mark },
  { method: "POST", path: "/api/sessions/:key/read", handle: read },
  { method: "GET", path: "/api/sessions/:key/export", handle: sendExport },
  { method: "POST", path: "/api/sessions/:key/rename", handle: rename },
  {
    method: "POST",
    path: "/api/sessions/:key/stop",
    handle: async (x) => sendJson(x.response, 200, await askInPath(x, "turn_cancel")),
  },
  { method: "POST", path: "/api/sessions/:key/retry", handle: retry },
  { method: "POST", path: "/api/sessions/:key/abort", handle: abort },
  { method: "POST", path: "/api/sessions/:key/complete", handle: complete },
  { method: "POST", path: "/api/sessions/:key/fork", handle: fork },
  { method: "GET", path: "/api/sessions/:key/status", handle: status },
  { method: "GET", path: "/api/sessions/:key/messages", handle: messages },
  { method: "GET", path: "/api/sessions/:key/usage", handle: usage },
  { method: "GET", path: "/api/sessions/:key/events", handle: events },
  { method: "GET", path: "/api/sessions/:key/artifacts/:id", handle: sendArtifact },
  { method: "GET", path: "/api/sessions/:key/received/:file", handle: sendReceived },
  { method: "GET", path: "/api/sessions/:key/stream", tokenInQuery: true, handle: stream },
];

/** Here a session's key is `key`, in the path and in bodies. */
function askByKey<T extends CommandName>(x: Exchange, command: T, params: object): Promise<CommandResults[T]> {
  return ask(x.api, command, params, (field) => (field === "sessionKey" ? "key" : field));
}

/** About the session of the path. */
function askInPath<T extends CommandName>(x: Exchange, command: T, params = {}): Promise<CommandResults[T]> {
  return askByKey(x, command, { ...params, sessionKey: paramOf(x, "key") });
}

async function list(x: Exchange): Promise<void> {
  const { query } = x.target;
  const page = await askByKey(x, "session_list", {
    channel: query.get("channel") ?? undefined,
    chatId: query.get("chat_id") ?? undefined,
    archived: query.get("archived") ?? undefined,
    pinned: query.get("pinned") ?? undefined,
    limit: numberOf(query, "limit"),
    offset: numberOf(query, "offset"),
  });
  sendJson(x.response, 200, page);
}

async function search(x: Exchange): Promise<void> {
  const { query } = x.target;
  const wanted = {
    query: query.get("q") ?? undefined,
    limit: numberOf(query, "limit"),
    before: query.get("before") ?? undefined,
    channel: query.get("channel") ?? undefined,
    sessionKey: query.get("session") ?? undefined,
  };
  const names = new Map([
    ["query", "q"],
    ["sessionKey", "session"],
  ]);
  sendJson(x.response, 200, await ask(x.api, "session_search", wanted, (field) => names.get(field) ?? field));
}

async function mark(x: Exchange): Promise<void> {
  const { sessionKey: key, ...marks } = await askInPath(x, "session_marks_set", await bodyOf(x, anyBody));
  sendJson(x.response, 200, { key, ...marks });
}

async function read(x: Exchange): Promise<void> {
  const { sessionKey: key, ...marks } = await askInPath(x, "session_read", await bodyOf(x, anyBody));
  sendJson(x.response, 200, { key, ...marks });
}

async function create(x: Exchange): Promise<void> {
  const { key, ...rest } = await bodyOf(x, anyBody);
  const { sessionKey, reused } = await askByKey(x, "session_open", { ...rest, sessionKey: key });
  sendJson(x.response, reused ? 200 : 201, { key: sessionKey, reused });
}

async function remove(x: Exchange): Promise<void> {
  const { sessionKey: key } = await askInPath(x, "session_delete");
  sendJson(x.response, 200, { ok: true, key });
}

async function rename(x: Exchange): Promise<void> {
  const { sessionKey: key, title } = await askInPath(x, "session_title_set", await bodyOf(x, anyBody));
  sendJson(x.response, 200, { ok: true, key, title });
}

async function retry(x: Exchange): Promise<void> {
  const { sessionKey: key, ...accepted } = await askInPath(x, "turn_retry", await bodyOf(x, anyBody));
  sendJson(x.response, 202, { key, ...accepted });
}

async function abort(x: Exchange): Promise<void> {
  const { sessionKey: key, state } = await askInPath(x, "session_abort");
  sendJson(x.response, 200, { ok: true, key, state });
}

async function complete(x: Exchange): Promise<void> {
  const { sessionKey: key, state } = await askInPath(x, "session_complete");
  sendJson(x.response, 200, { ok: true, key, state });
}

async function fork(x: Exchange): Promise<void> {
  const { sessionKey: key, forkedFrom } = await askInPath(x, "session_fork", await optionalBodyOf(x, anyBody));
  sendJson(x.response, 201, { key, forkedFrom });
}

async function status(x: Exchange): Promise<void> {
  const { query } = x.target;
  const params = {
    sessionKey: paramOf(x, "key"),
    includeRecovery: isTrue(query.get("include_recovery")),
    fromSequence: numberOf(query, "from_sequence"),
  };
  sendJson(x.response, 200, toStatusWire(await ask(x.api, "session_status", params, toSnake)));
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
  const types = query.get("types") || undefined;
  const { sessionKey, ...wanted } = followed({
    sessionKey: paramOf(x, "key"),
    fromSequence: numberOf(query, "from_sequence"),
    types: types?.split(","),
  });
  using out = openEventStream(x);
  const subscription = x.api.subscribe(sessionKey, wanted, (event) =>
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
