import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { findPackage } from "../../../util/packages/folder.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check } from "../../check.js";
import { browserOf } from "../../tool-programs.js";

/** A browser for the tools, where the config wants one. */
export const browserCheck: Check = {
  name: "browser",
  async run(world) {
    const { enabled, executablePath } = world.loaded.config.tools.browser;
    if (!enabled) return [{ level: "ok", found: findingSentence("browser_off") }];
    if (findPackage("playwright-core", world.home) === undefined)
      return [
        {
          level: "warn",
          found: findingSentence("browser_part"),
          todo: "maxclaw add browser",
        },
      ];
    const path = browserOf(world);
    if (path === undefined)
      return [
        executablePath === undefined
          ? {
              level: "warn",
              found: findingSentence("no_browser"),
              todo: findingSentence("no_browser_todo"),
            }
          : {
              level: "fail",
              found: findingSentence("browser_absent", { path: executablePath }),
              todo: findingSentence("browser_absent_todo"),
            },
      ];
    try {
      await access(path, constants.X_OK);
    } catch {
      return [{ level: "fail", found: findingSentence("browser_closed", { path }), todo: `chmod +x ${path}` }];
    }
    return [{ level: "ok", found: findingSentence("browser_fine", { path }) }];
  },
};
