import { z } from "zod";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, paramOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

const installBody = z.object({
  /** Of the Go maxclaw; what `source` is can be seen. */
  type: z.enum(["github", "git", "zip", "folder", "clawhub"]).optional(),
  source: z.string().trim().min(1).max(2000),
  replace: z.boolean().optional(),
  only: z.string().max(100).optional(),
});

/** Skills, at the paths and in the shapes of the Go maxclaw. */
export const skillRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/skills",
    handle: async (x) => sendJson(x.response, 200, { skills: await x.api.listSkills() }),
  },
  { method: "POST", path: "/api/skills/install", handle: install },
  {
    method: "GET",
    path: "/api/skills/:name",
    handle: async (x) => sendJson(x.response, 200, await x.api.getSkill(paramOf(x, "name"))),
  },
  { method: "POST", path: "/api/skills/:name/enable", handle: (x) => enable(x, true) },
  { method: "POST", path: "/api/skills/:name/disable", handle: (x) => enable(x, false) },
];

async function install(x: Exchange): Promise<void> {
  const { type, ...request } = await bodyOf(x, installBody);
  if (type === "clawhub")
    throw new RequestError("Skills of ClawHub are not fetched from here: download the zip and give its path.", {
      status: 400,
      code: "bad_request",
    });
  const skills = await x.api.skills.install(request, x.signal);
  sendJson(x.response, 200, { ok: true, skills });
}

async function enable(x: Exchange, isEnabled: boolean): Promise<void> {
  const { name, enabled } = await x.api.skills.enable(paramOf(x, "name"), isEnabled);
  sendJson(x.response, 200, { ok: true, name, enabled });
}
