import { rm } from "node:fs/promises";
import type { Egress } from "../../policy/locations/egress.js";
import { findPackage } from "../../util/packages/folder.js";
import type { Environments, ToolFamily } from "../family.js";
import { browserTool } from "./browser.js";
import { Browsers } from "./browsers.js";
import { findChromium } from "./find-chromium.js";
import { createRenderer } from "./render-page.js";

const maxBrowsers = 4;
/** The browser that pages are read with belongs to no session. */
const readerKey = "web_fetch";

/** The section `tools.browser` of the config. */
export interface BrowserSettings {
  readonly enabled: boolean;
  readonly executablePath?: string | undefined;
  readonly args: readonly string[];
  readonly idleSeconds: number;
}

export interface BrowserScope {
  /** Where packages may have been added. */
  readonly home: string;
  readonly egress: Egress;
  /** Where the profile of a session's browser is kept. */
  readonly profileOf: (sessionKey: string) => string;
  readonly environments: Environments;
}

export interface BrowserFamily extends ToolFamily {
  /** Reads pages with a browser of its own; undefined where none is offered. */
  readonly renderer?: (timeoutMs: number) => ReturnType<typeof createRenderer>;
}

/** The browser, where the config wants it and this installation can offer it. */
export function openBrowser(settings: BrowserSettings, scope: BrowserScope): BrowserFamily {
  if (!settings.enabled) return { tools: [] };
  const find = () => findBrowser(settings.executablePath, scope.home);
  const { path } = find();
  if (path === undefined)
    return {
      tools: [],
      // It may have been installed meanwhile.
      get missing() {
        const { missing = "browser is there now: restart the gateway to use it" } = find();
        return [missing];
      },
    };
  const { egress, profileOf, environments, home } = scope;
  const browsers = new Browsers({
    executablePath: path,
    args: settings.args,
    egress,
    home,
    profileOf: (key) => (key === readerKey ? undefined : profileOf(key)),
    idleMs: settings.idleSeconds * 1000,
    max: maxBrowsers,
    onChange: ({ key, ...change }) =>
      environments.logChange(key === readerKey ? undefined : key, { kind: "browser", ...change }),
  });
  const unsubscribe = environments.onSession((key, turn) => {
    if (turn === "completed" || turn === "aborted") void browsers.close(key, `the session is ${turn}`);
  });
  environments.onDelete("browser", {
    close: (key) => browsers.close(key, "the session is deleted", { isReported: false }),
    leave: (key) => rm(profileOf(key), { recursive: true, force: true, maxRetries: 3 }),
  });
  return {
    tools: [browserTool(browsers)],
    renderer: (timeoutMs) => createRenderer(browsers, readerKey, timeoutMs),
    async close() {
      unsubscribe();
      await browsers[Symbol.asyncDispose]();
    },
  };
}

/** Where it is, or what is missing. */
function findBrowser(
  configured: string | undefined,
  home: string,
): { readonly path?: string; readonly missing?: string } {
  if (findPackage("playwright-core", home) === undefined)
    return { missing: "browser is not offered. Install it with `maxclaw add browser` and restart the gateway" };
  const path = findChromium(configured);
  if (path !== undefined) return { path };
  return {
    missing:
      configured === undefined
        ? "browser is not offered: install Chromium or Chrome, or set tools.browser.executablePath"
        : `browser is not offered: there is no ${configured} (tools.browser.executablePath)`,
  };
}
