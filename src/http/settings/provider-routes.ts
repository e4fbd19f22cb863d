import { z } from "zod";
import { bodyOf, type Exchange, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { settingsOf } from "./settings-of.js";

const optional = z
  .string()
  .max(2000)
  .transform((text) => text.trim() || undefined)
  .optional();

/** As the Go maxclaw's page sends it. */
const body = z.object({
  name: z.string().trim().min(1).max(100),
  apiKey: optional,
  baseURL: optional,
  apiBase: optional,
  apiFormat: z
    .string()
    .transform((format) => (format.toLowerCase() === "anthropic" ? "anthropic" : format === "" ? undefined : "openai"))
    .optional(),
});

export const providerRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/providers",
    handle: async (x) => sendJson(x.response, 200, { providers: await settingsOf(x).providers() }),
  },
  {
    method: "POST",
    path: "/api/providers/test",
    handle: async (x) => {
      const { length } = await modelsOf(x);
      sendJson(x.response, 200, { ok: true, models: length });
    },
  },
  {
    method: "POST",
    path: "/api/providers/models",
    handle: async (x) => sendJson(x.response, 200, { models: await modelsOf(x) }),
  },
];

async function modelsOf(x: Exchange) {
  const { name, apiKey, baseURL, apiBase = baseURL, apiFormat } = await bodyOf(x, body);
  return await settingsOf(x).models({ name, apiKey, apiBase, apiFormat }, x.signal);
}
