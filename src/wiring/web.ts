import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { messageOf } from "../errors.js";
import { draft } from "../events/event.js";
import { createAddressPolicy } from "../policy/places/addresses.js";
import { browserTool } from "../tools/browser/browser.js";
import { type BrowserChange, Browsers } from "../tools/browser/browsers.js";
import { findChromium } from "../tools/browser/find-chromium.js";
import { createRenderer } from "../tools/browser/render-page.js";
import { createEgress, type Egress } from "../tools/web/egress.js";
import type { Releases } from "../util/async/releases.js";
import type { Core } from "./core.js";
import type { GatewayOptions } from "./options.js";
import { createWebTools, isInstalled, notInstalled, type WebTools } from "./web-tools.js";

const maxBrowsers = 4;
/** The browser that pages are read with belongs to no session. */
const readerKey = "web_fetch";

/** The tools that reach the web. Their code for it is loaded when it is used. */
export function openWeb(options: GatewayOptions, core: Core, releases: Releases): WebTools {
  const { tools } = options.config.config;
  const addresses = createAddressPolicy(tools.web.fetch.allow);
  const egress = createEgress(addresses);
  const found = openBrowsers(options, core, egress, releases);
  const browsers = "browsers" in found ? found.browsers : undefined;
  const timeoutMs = tools.web.fetch.timeout * 1000;
  const render = browsers === undefined ? undefined : createRenderer(browsers, readerKey, timeoutMs);
  const web = createWebTools(tools, { version: options.version, egress, render });
  return {
    tools: [...web.tools, ...(browsers === undefined ? [] : [browserTool(browsers)])],
    missing: [...web.missing, ...("missing" in found ? [found.missing] : [])],
    problems: [...addresses.problems, ...web.problems],
  };
}

function openBrowsers(
  options: GatewayOptions,
  core: Core,
  egress: Egress,
  releases: Releases,
): { readonly browsers: Browsers } | { readonly missing: string } | Record<never, never> {
  const { enabled, executablePath: configured, args, idleSeconds } = options.config.config.tools.browser;
  if (!enabled) return {};
  if (!isInstalled("playwright-core")) return { missing: notInstalled("browser", "playwright-core") };
  const executablePath = findChromium(configured);
  if (executablePath === undefined)
    return {
      missing:
        configured === undefined
          ? "browser is not offered: install Chromium or Chrome, or set tools.browser.executablePath"
          : `browser is not offered: there is no ${configured} (tools.browser.executablePath)`,
    };
  const profileOf = (key: string): string => join(options.home, "browser", basename(core.files.folder(key)));
  const browsers = new Browsers({
    executablePath,
    args,
    egress,
    profileOf: (key) => (key === readerKey ? undefined : profileOf(key)),
    idleMs: idleSeconds * 1000,
    max: maxBrowsers,
    onChange: (change) => tell(change, options, core),
  });
  const unsubscribe = core.events.on("session_state_changed", ({ session_key, payload: { to } }) => {
    if (to === "completed" || to === "aborted") void browsers.close(session_key, `the session is ${to}`);
  });
  core.lives.onClose("browser", (key) => browsers.close(key, "the session is deleted", { isTold: false }));
  core.lives.onLeave("browser", (key) => rm(profileOf(key), { recursive: true, force: true, maxRetries: 3 }));
  releases.defer(async () => {
    unsubscribe();
    await browsers[Symbol.asyncDispose]();
  });
  return { browsers };
}

function tell({ key, id, from, to, detail }: BrowserChange, { log }: GatewayOptions, core: Core): void {
  const payload = {
    kind: "browser" as const,
    environment_id: id,
    from,
    to,
    ...(detail === undefined ? {} : { detail }),
  };
  const event = draft("environment_state_changed", payload, { source: "gateway" });
  if (key === readerKey) core.tell(event);
  else
    void core.engine
      .append(key, [event], { durable: false })
      .catch((error: unknown) => log.warn(`The state of a browser was not told: ${messageOf(error)}`));
}
