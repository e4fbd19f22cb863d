import { z } from "zod";
import type { CronChange, CronWish } from "../../api/cron-api.js";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
import { integerOf } from "../target.js";
import type { Route } from "./routes.js";

/** Absent and empty are one: the Go maxclaw's page sends both. */
const optional = z
  .string()
  .max(200)
  .transform((text) => text.trim() || undefined)
  .optional();

const body = z.object({
  title: optional,
  prompt: z.string().max(4000),
  cron: optional,
  /** A plain number is milliseconds, as in the Go maxclaw. */
  every: z
    .union([optional, z.number().transform(String)])
    .transform((text) => (text !== undefined && /^\d+$/.test(text) ? `${Number(text) / 1000}s` : text)),
  at: optional,
  timeZone: optional,
  session: z.enum(["chat", "alone"]).optional(),
  missed: z.enum(["skip", "once"]).optional(),
  sessionKey: optional,
  channels: z.array(z.string().max(100)).max(20).optional(),
  to: optional,
});

/** Scheduled jobs, at the paths and in the shapes of the Go maxclaw. */
export const cronRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/cron",
    handle: async (x) => sendJson(x.response, 200, { jobs: await x.api.cron.list() }),
  },
  {
    method: "POST",
    path: "/api/cron",
    handle: async (x) => sendJson(x.response, 200, await x.api.cron.add(await wishOf(x))),
  },
  {
    method: "GET",
    path: "/api/cron/history",
    handle: async (x) => {
      const jobId = x.target.query.get("jobId") || undefined;
      const limit = integerOf(x.target.query, "limit", { min: 1, max: 4000, default: 50 });
      sendJson(x.response, 200, { records: await x.api.cron.history({ jobId, limit }) });
    },
  },
  {
    method: "PUT",
    path: "/api/cron/:id",
    handle: async (x) => sendJson(x.response, 200, await x.api.cron.update(paramOf(x, "id"), await changeOf(x))),
  },
  {
    method: "DELETE",
    path: "/api/cron/:id",
    handle: async (x) => {
      await x.api.cron.remove(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true });
    },
  },
  { method: "POST", path: "/api/cron/:id/enable", handle: (x) => enable(x, true) },
  { method: "POST", path: "/api/cron/:id/disable", handle: (x) => enable(x, false) },
  {
    method: "POST",
    path: "/api/cron/:id/run",
    handle: async (x) => {
      const record = await x.api.cron.run(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true, message: "job triggered", record });
    },
  },
];

async function enable(x: Exchange, isEnabled: boolean): Promise<void> {
  sendJson(x.response, 200, await x.api.cron.enable(paramOf(x, "id"), isEnabled));
}

/** A job stays in its chat: where it is to go is not read. */
async function changeOf(x: Exchange): Promise<CronChange> {
  const { channels: _, to: __, sessionKey: ___, ...change } = await bodyOf(x, body.partial());
  return change;
}

/** `desktop` is how the Go maxclaw called its own page; a channel without `to` means its first chat in `owners`. */
async function wishOf(x: Exchange): Promise<CronWish> {
  const { channels = [], to, ...wish } = await bodyOf(x, body);
  const channel = channels.find((name) => name !== "" && name !== "desktop");
  if (wish.sessionKey !== undefined || channel === undefined) return wish;
  return to === undefined ? { ...wish, channel } : { ...wish, sessionKey: `${channel}:${to}` };
}
