import { z } from "zod";
import type { AttentionApi } from "../../api/attention/attention-api.js";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
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

const text = z.string().max(1000);
const subscribeBody = z.object({
  subscription: z.object({ endpoint: text, keys: z.object({ p256dh: text, auth: text }) }),
  replaces: text.optional(),
  language: z.enum(["en", "zh"]).optional(),
  quietNights: z.boolean().optional(),
});
const removeBody = z.object({ endpoint: text });
const lookBody = z.object({ page: z.string().min(1).max(100), at: text, looking: z.boolean() });

/** Who looks at the page, and what is pushed to those who do not. */
export const attentionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/push",
    handle: async (x) => sendJson(x.response, 200, { publicKey: await attentionOf(x).pushKey() }),
  },
  { method: "POST", path: "/api/push", handle: subscribe },
  {
    method: "POST",
    path: "/api/push/remove",
    handle: async (x) => {
      const { endpoint } = await bodyOf(x, removeBody);
      await attentionOf(x).unsubscribe(endpoint);
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "POST",
    path: "/api/presence",
    handle: async (x) => {
      const { page, at, looking } = await bodyOf(x, lookBody);
      attentionOf(x).look({ page, at, isLooking: looking });
      sendJson(x.response, 200, { ok: true });
    },
  },
];

async function subscribe(x: Exchange): Promise<void> {
  const { subscription, ...choices } = await bodyOf(x, subscribeBody);
  const { endpoint, keys } = subscription;
  if (x.settings.token !== undefined && x.caller.device === undefined)
    throw new RequestError("Only a device that is signed in can be reached. Sign in on the page.", {
      status: 403,
      code: "forbidden",
    });
  await attentionOf(x).subscribe({ endpoint, ...keys, ...choices }, x.caller.device?.id ?? "");
  sendJson(x.response, 200, { ok: true });
}

function attentionOf({ api }: Exchange): AttentionApi {
  if (api.attention !== undefined) return api.attention;
  throw new RequestError("Nothing is pushed here.", { status: 404, code: "not_found" });
}
