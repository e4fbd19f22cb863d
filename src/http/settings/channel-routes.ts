import { z } from "zod";
import type { SenderView } from "../../api/settings/settings-api.js";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, optionalBodyOf, paramOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { integerOf, isTrue } from "../target.js";
import { ownerCodesOf, revisionOf, settingsOf } from "./settings-of.js";

const section = z.record(z.string(), z.unknown());

/** Channels, who has written there, and what a person may want to be shown. */
export const channelRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/channels",
    handle: async (x) => sendJson(x.response, 200, { channels: await settingsOf(x).channels() }),
  },
  { method: "GET", path: "/api/channels/senders", handle: senders },
  { method: "GET", path: "/api/channels/:name/status", handle: status },
  {
    method: "POST",
    path: "/api/channels/:name/test",
    handle: async (x) => {
      const name = paramOf(x, "name").toLowerCase();
      const account = await settingsOf(x).testChannel(name, await optionalBodyOf(x, section), x.signal);
      sendJson(x.response, 200, { ok: true, ...(account === undefined ? {} : { account }) });
    },
  },
  {
    method: "POST",
    path: "/api/channels/:name/owner-code",
    handle: async (x) => sendJson(x.response, 200, await ownerCodesOf(x).begin(paramOf(x, "name").toLowerCase())),
  },
  {
    method: "GET",
    path: "/api/channels/:name/owner-code",
    handle: (x) => sendJson(x.response, 200, ownerCodesOf(x).state(paramOf(x, "name").toLowerCase())),
  },
  {
    method: "DELETE",
    path: "/api/channels/:name/owner-code",
    handle: (x) => {
      ownerCodesOf(x).end(paramOf(x, "name").toLowerCase());
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "GET",
    path: "/api/notifications/pending",
    handle: async (x) => sendJson(x.response, 200, await settingsOf(x).notifications()),
  },
  {
    method: "GET",
    path: "/api/notifications",
    handle: async (x) => sendJson(x.response, 200, { notifications: await settingsOf(x).notifications() }),
  },
  {
    method: "POST",
    path: "/api/notifications/:id/delivered",
    handle: (x) => {
      settingsOf(x).markDelivered(paramOf(x, "id").slice(0, 200));
      sendJson(x.response, 200, { ok: true });
    },
  },
];

const content = z.object({ content: z.string() });

/** Files that steer the assistant, and its memory. */
export const workspaceFileRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/workspace-file",
    handle: async (x) => sendJson(x.response, 200, { files: await settingsOf(x).files() }),
  },
  ...["/api/workspace-file/:name", "/api/workspace-file/:folder/:name"].flatMap((path): Route[] => [
    {
      method: "GET",
      path,
      handle: async (x) => {
        const { text, revision } = await settingsOf(x).readFile(nameOf(x));
        x.response.setHeader("ETag", `"${revision}"`);
        sendJson(x.response, 200, { content: text });
      },
    },
    {
      method: "PUT",
      path,
      handle: async (x) => {
        const { content: text } = await bodyOf(x, content);
        const revision = await settingsOf(x).writeFile(nameOf(x), text, revisionOf(x));
        x.response.setHeader("ETag", `"${revision}"`);
        sendJson(x.response, 200, { ok: true });
      },
    },
  ]),
];

function nameOf({ params }: Exchange): string {
  return [params.folder, params.name].filter((part) => part !== undefined).join("/");
}

async function senders(x: Exchange): Promise<void> {
  const { query } = x.target;
  const channel = query.get("channel")?.trim().toLowerCase() || undefined;
  const limit = integerOf(query, "limit", { min: 1, max: 1000, default: 50 });
  const users = await settingsOf(x).senders({ channel, limit: Math.min(limit, 200) });
  if (!isTrue(query.get("grouped")) || channel !== undefined) return sendJson(x.response, 200, { users });
  const grouped = new Map<string, Pick<SenderView, "chatId" | "sender" | "lastSeen">[]>();
  for (const { channel: name, chatId, sender, lastSeen } of users) {
    const chats = grouped.get(name) ?? [];
    if (chats.every((chat) => chat.chatId !== chatId)) chats.push({ chatId, sender, lastSeen });
    grouped.set(name, chats);
  }
  sendJson(x.response, 200, { grouped: Object.fromEntries(grouped) });
}

/** `enabled`, `connected` and `status` are the Go maxclaw's words. */
async function status(x: Exchange): Promise<void> {
  const name = paramOf(x, "name");
  const found = (await settingsOf(x).channels()).find((channel) => channel.name === name);
  if (found === undefined) throw new RequestError(`There is no channel ${name}.`, { status: 404, code: "not_found" });
  sendJson(x.response, 200, { ...found, connected: found.state === "connected", status: found.reason ?? found.state });
}
