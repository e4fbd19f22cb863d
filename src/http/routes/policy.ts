import { z } from "zod";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

const answerBody = z.record(z.string(), z.unknown());

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
  const { answer } = await x.api.request("human_input_reply", { ...body, sessionKey: paramOf(x, "key") });
  sendJson(x.response, 200, { answer });
}
