import { z } from "zod";
import type { AllSettingsView, SettingsView } from "../../api/settings/settings-api.js";
import { bodyOf, type Exchange, revisionOf, sendJson } from "../exchange.js";
import type { Route } from "../routes/routes.js";
import { settingsOf } from "./settings-of.js";

/** What an answer has besides the config: nothing of it is a setting, so that an answer can be sent back as it came. */
const beside = ["restart", "problems", "backup"];
const body = z
  .record(z.string(), z.unknown())
  .transform((sent) => Object.fromEntries(Object.entries(sent).filter(([key]) => !beside.includes(key))));

const changes = z.object({
  changes: z
    .array(
      z.object({
        path: z.array(z.string().max(200)).min(1).max(20),
        value: z.unknown().optional(),
        text: z.string().max(200_000).optional(),
      }),
    )
    .min(1)
    .max(100),
});

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
  { method: "GET", path: "/api/settings", handle: async (x) => sendAll(x, await settingsOf(x).keys.all()) },
  {
    method: "PUT",
    path: "/api/settings",
    handle: async (x) => {
      const { changes: wanted } = await bodyOf(x, changes);
      sendAll(x, await settingsOf(x).keys.set(wanted, revisionOf(x)));
    },
  },
  {
    method: "GET",
    path: "/api/config/pending",
    handle: async (x) => {
      const { restart, problems } = await settingsOf(x).read();
      sendJson(x.response, 200, { restart, problems });
    },
  },
];

function sendAll({ response }: Exchange, settings: AllSettingsView): void {
  if (settings.revision !== undefined) response.setHeader("ETag", `"${settings.revision}"`);
  sendJson(response, 200, settings);
}

async function change(x: Exchange): Promise<void> {
  const changed: SettingsView = await settingsOf(x).change(await bodyOf(x, body), revisionOf(x));
  const { config, revision, restart, problems, backup } = changed;
  x.response.setHeader("ETag", `"${revision}"`);
  sendJson(x.response, 200, { ...config, restart, problems, ...(backup === undefined ? {} : { backup }) });
}
