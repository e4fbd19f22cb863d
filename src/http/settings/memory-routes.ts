import { z } from "zod";
import { bodyOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";

const factBody = z.object({ text: z.string().min(1) });

/** What the assistant keeps about its owner. */
export const memoryRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/memory",
    handle: async ({ api, response }) => sendJson(response, 200, { facts: await api.memory.facts() }),
  },
  {
    method: "POST",
    path: "/api/memory/forget",
    handle: async (x) => {
      await x.api.memory.forget((await bodyOf(x, factBody)).text);
      sendJson(x.response, 200, { ok: true });
    },
  },
];
