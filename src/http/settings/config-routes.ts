import { z } from "zod";
import type { SettingsView } from "../../api/settings/settings-api.js";
import { bodyOf, type Exchange, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { revisionOf, settingsOf } from "./settings-of.js";

/** What an answer has besides the config: nothing of it is a setting, so that an answer can be sent back as it came. */
const beside = ["restart", "problems", "backup"];
const body = z
  .record(z.string(), z.unknown())
  .transform((sent) => Object.fromEntries(Object.entries(sent).filter(([key]) => !beside.includes(key))));

/** The config, at the paths and in the shape of the Go maxclaw. */
export const configRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/config",
    handle: async (x) => {
      const { config, revision } = await settingsOf(x).read();
      x.response.setHeader("ETag", `"${revision}"`);
      sendJson(x.response, 200, config);
    },
  },
  { method: "PUT", path: "/api/config", handle: change },
  {
    method: "GET",
    path: "/api/config/pending",
    handle: async (x) => {
      const { restart, problems } = await settingsOf(x).read();
      sendJson(x.response, 200, { restart, problems });
    },
  },
];

async function change(x: Exchange): Promise<void> {
  const changed: SettingsView = await settingsOf(x).change(await bodyOf(x, body), revisionOf(x));
  const { config, revision, restart, problems, backup } = changed;
  x.response.setHeader("ETag", `"${revision}"`);
  sendJson(x.response, 200, { ...config, restart, problems, ...(backup === undefined ? {} : { backup }) });
}
