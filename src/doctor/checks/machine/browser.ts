import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { findPackage } from "../../../util/packages/folder.js";
import type { Check } from "../../check.js";
import { browserOf } from "../../tool-programs.js";

/** A browser for the tools, where the config wants one. */
export const browserCheck: Check = {
  name: "browser",
  async run(world) {
    const { enabled, executablePath } = world.loaded.config.tools.browser;
    if (!enabled) return [{ level: "ok", found: "The browser is switched off" }];
    if (findPackage("playwright-core", world.home) === undefined)
      return [
        {
          level: "warn",
          found: "There is no browser tool: its part is not installed",
          todo: "maxclaw add browser",
        },
      ];
    const path = browserOf(world);
    if (path === undefined)
      return [
        executablePath === undefined
          ? {
              level: "warn",
              found: "There is no Chromium or Chrome on this machine",
              todo: "Install Chromium, or set tools.browser.enabled to false",
            }
          : { level: "fail", found: `There is no ${executablePath}`, todo: "Correct tools.browser.executablePath" },
      ];
    try {
      await access(path, constants.X_OK);
    } catch {
      return [{ level: "fail", found: `${path} may not be started`, todo: `chmod +x ${path}` }];
    }
    return [{ level: "ok", found: `The browser is ${path}` }];
  },
};
