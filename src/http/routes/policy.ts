import { z } from "zod";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

/** A secret may be long, e.g. a private key. */
export const answerFields = {
  answer: z.string().max(10_000).optional(),
  values: z.record(z.string().max(100), z.string().max(100_000)).optional(),
};
const answerBody = z.object({ requestId: z.string().min(1).max(100), ...answerFields });

/** Questions to people, and what they have allowed for always. */
export const policyRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/questions",
    handle: (x) => sendJson(x.response, 200, { questions: x.api.listQuestions() }),
  },
  { method: "POST", path: "/api/sessions/:key/answer", handle: answer },
  { method: "GET", path: "/api/policy", handle: (x) => sendJson(x.response, 200, x.api.policy()) },
  {
    method: "DELETE",
    path: "/api/policy/grants/:id",
    handle: async (x) => {
      await x.api.revokeGrant(paramOf(x, "id"));
      sendJson(x.response, 200, { ok: true });
    },
  },
];

async function answer(x: Exchange): Promise<void> {
  const body = await bodyOf(x, answerBody);
  sendJson(x.response, 200, await x.api.answerQuestion({ sessionKey: paramOf(x, "key"), ...body }));
}
