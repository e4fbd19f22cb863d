import { z } from "zod";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, paramOf, revisionOf, sendJson } from "../exchange.js";
import type { Route } from "./routes.js";

const installBody = z.object({
  /** Of the Go maxclaw; what `source` is can be seen. */
  type: z.enum(["github", "git", "zip", "folder", "clawhub"]).optional(),
  source: z.string().trim().min(1).max(2000),
  replace: z.boolean().optional(),
  only: z.string().max(100).optional(),
  called: z.string().max(255).optional(),
});
const newBody = z.object({ name: z.string().trim().min(1).max(200), description: z.string().max(1000).default("") });
const textBody = z.object({ text: z.string() });

/** Skills, at the paths and in the shapes of the Go maxclaw. */
export const skillRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/skills",
    handle: async (x) =>
      sendJson(x.response, 200, { skills: await x.api.listSkills(), problems: x.api.skills.leftOut() }),
  },
  { method: "POST", path: "/api/skills", handle: create },
  { method: "POST", path: "/api/skills/install", handle: install },
  {
    method: "GET",
    path: "/api/skills/:name",
    handle: async (x) => sendJson(x.response, 200, await x.api.getSkill(paramOf(x, "name"))),
  },
  {
    method: "DELETE",
    path: "/api/skills/:name",
    handle: async (x) => {
      await x.api.skills.remove(paramOf(x, "name"));
      sendJson(x.response, 200, { ok: true });
    },
  },
  { method: "GET", path: "/api/skills/:name/file", handle: read },
  { method: "PUT", path: "/api/skills/:name/file", handle: write },
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

async function create(x: Exchange): Promise<void> {
  const { name, description } = await bodyOf(x, newBody);
  sendJson(x.response, 201, await x.api.skills.create(name, description));
}

async function read(x: Exchange): Promise<void> {
  const { revision, ...file } = await x.api.skills.file(paramOf(x, "name"));
  x.response.setHeader("ETag", `"${revision}"`);
  sendJson(x.response, 200, file);
}

async function write(x: Exchange): Promise<void> {
  const { text } = await bodyOf(x, textBody);
  const { revision, ...written } = await x.api.skills.write(paramOf(x, "name"), text, revisionOf(x));
  x.response.setHeader("ETag", `"${revision}"`);
  sendJson(x.response, 200, { ok: true, ...written });
}

async function enable(x: Exchange, isEnabled: boolean): Promise<void> {
  const { name, enabled } = await x.api.skills.enable(paramOf(x, "name"), isEnabled);
  sendJson(x.response, 200, { ok: true, name, enabled });
}
