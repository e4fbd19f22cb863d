import { z } from "zod";
import { bodyOf, paramOf, sendJson, sendSlowJson } from "../exchange.js";
import { integerOf } from "../target.js";
import type { Route } from "./routes.js";

const codeBody = z.object({ code: z.string().trim().min(1).max(100) });

/** Status, pairing, the ledger and metrics. */
export const gatewayRoutes: readonly Route[] = [
  { method: "GET", path: "/api/status", handle: async (x) => sendJson(x.response, 200, await x.api.status()) },
  {
    method: "GET",
    path: "/api/commands",
    handle: (x) => sendJson(x.response, 200, { commands: x.api.listChatCommands() }),
  },
  { method: "GET", path: "/api/pairings", handle: (x) => sendJson(x.response, 200, x.api.listPairings()) },
  {
    method: "POST",
    path: "/api/pairings/approve",
    handle: async (x) => {
      const { code } = await bodyOf(x, codeBody);
      sendJson(x.response, 200, await x.api.approvePairing(code));
    },
  },
  {
    method: "POST",
    path: "/api/pairings/refuse",
    handle: async (x) => {
      const { code } = await bodyOf(x, codeBody);
      await x.api.refusePairing(code);
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "DELETE",
    path: "/api/pairings/:channel/:sender",
    handle: async (x) => {
      await x.api.revokePairing(paramOf(x, "channel"), paramOf(x, "sender"));
      sendJson(x.response, 200, { ok: true });
    },
  },
  {
    method: "GET",
    path: "/api/ledger",
    handle: async (x) =>
      await sendSlowJson(
        x.response,
        Promise.all([x.api.ledger(), x.api.system?.uncounted(x.signal)]).then(([entries, uncounted = []]) => ({
          entries,
          uncounted,
        })),
      ),
  },
  {
    method: "GET",
    path: "/api/usage",
    handle: (x) => {
      const days = integerOf(x.target.query, "days", { min: 1, max: 400, default: 7 });
      sendJson(x.response, 200, x.api.usage(days));
    },
  },
  {
    method: "GET",
    path: "/metrics",
    handle: (x) => {
      const type = "text/plain; version=0.0.4; charset=utf-8";
      x.response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store" });
      x.response.end(x.api.metrics?.() ?? "");
    },
  },
];
