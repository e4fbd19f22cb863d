import { z } from "zod";
import { RequestError } from "../../errors.js";
import { bodyOf, type Exchange, paramOf, revisionOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { settingsOf, toolsOf } from "./settings-of.js";

const rulesBody = z.object({ rules: z.array(z.record(z.string(), z.string())).max(1000) });
const modeBody = z.object({ executionMode: z.enum(["safe", "ask", "auto"]) });
const switchBody = z.object({ isOn: z.boolean() });
const trialBody = z.object({
  kind: z.enum(["command", "read", "write", "fetch", "call"]),
  argument: z.string().max(20_000),
  tool: z.string().max(100).optional(),
  role: z.enum(["owner", "guest"]).default("owner"),
  chat: z.enum(["dm", "group"]).default("dm"),
  hasNetwork: z.boolean().optional(),
});

/** The tools, and the rules of the config about them. */
export const policyConfigRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/tools",
    handle: (x) => sendJson(x.response, 200, { tools: toolsOf(x).list() }),
  },
  { method: "PUT", path: "/api/tools/:name", handle: switchTool },
  {
    method: "POST",
    path: "/api/policy/test",
    handle: async (x) => sendJson(x.response, 200, await toolsOf(x).tryPolicy(await bodyOf(x, trialBody))),
  },
  { method: "GET", path: "/api/policy/rules", handle: (x) => sendRules(x) },
  {
    method: "PUT",
    path: "/api/policy/rules",
    handle: async (x) => {
      const { rules } = await bodyOf(x, rulesBody);
      await settingsOf(x).change({ policy: { rules } }, revisionOf(x));
      await sendRules(x);
    },
  },
  {
    method: "PUT",
    path: "/api/policy/mode",
    handle: async (x) => {
      const { executionMode } = await bodyOf(x, modeBody);
      await settingsOf(x).change({ agents: { defaults: { executionMode } } }, revisionOf(x));
      await sendRules(x);
    },
  },
];

/** What switches a tool off, and what makes it as it is by default. */
const switches: Readonly<Record<string, (isOn: boolean) => object>> = {
  web_search: (isOn) => ({ web: { search: { provider: isOn ? null : "off" } } }),
  web_fetch: (isOn) => ({ web: { fetch: { mode: isOn ? null : "off" } } }),
  browser: (isOn) => ({ browser: { enabled: isOn ? null : false } }),
};

async function switchTool(x: Exchange): Promise<void> {
  const name = paramOf(x, "name");
  const { isOn } = await bodyOf(x, switchBody);
  const change = Object.hasOwn(switches, name) ? switches[name] : undefined;
  if (change === undefined)
    throw new RequestError(`No setting switches ${name.slice(0, 100)}. A rule can deny it.`, {
      status: 404,
      code: "not_found",
    });
  const { restart } = await settingsOf(x).change({ tools: change(isOn) }, undefined);
  sendJson(x.response, 200, { ok: true, name, isOn, restart });
}

/** As the file has them, with what is wrong with those that are in force. */
async function sendRules(x: Exchange): Promise<void> {
  const { config, revision } = await settingsOf(x).read();
  const rules: unknown = Reflect.get(Object(config.policy), "rules");
  const executionMode: unknown = Reflect.get(Object(Reflect.get(Object(config.agents), "defaults")), "executionMode");
  x.response.setHeader("ETag", `"${revision}"`);
  sendJson(x.response, 200, { rules: rules ?? [], executionMode, problems: x.api.policy().problems });
}
