import { findingSentence } from "../../util/words/finding-sentences.js";
import type { Check, Finding } from "../check.js";

/** What a fooled model could do. */
export const toolsCheck: Check = {
  name: "tools",
  readsConfig: true,
  async run({ loaded }) {
    const { agents, tools, extensions } = loaded.config;
    const { executionMode } = agents.defaults;
    const found: Finding[] = [];
    const hasNoWalls = tools.exec.sandbox === "off";
    if (executionMode === "auto")
      found.push({
        level: hasNoWalls ? "fail" : "warn",
        found: findingSentence(hasNoWalls ? "tools_unbounded" : "tools_ask_nobody"),
        todo: findingSentence("tools_ask"),
      });
    else if (hasNoWalls)
      found.push({
        level: "warn",
        found: findingSentence("no_walls"),
        todo: findingSentence("no_walls_todo"),
      });
    if (!tools.restrictToWorkspace)
      found.push({
        level: "warn",
        found: findingSentence("all_files"),
        todo: findingSentence("all_files_todo"),
      });
    if (tools.web.fetch.allow.length > 0)
      found.push({
        level: "warn",
        found: findingSentence("inside", { places: tools.web.fetch.allow.join(", ") }),
        todo: findingSentence("inside_todo"),
      });
    const noSandbox = tools.browser.enabled && tools.browser.args.includes("--no-sandbox");
    if (noSandbox)
      found.push({
        level: "warn",
        found: findingSentence("bare_browser"),
        todo: findingSentence("bare_browser_todo"),
      });
    const trusted = Object.entries(tools.mcpServers).flatMap(([name, server]) => (server.trusted ? [name] : []));
    if (trusted.length > 0)
      found.push({
        level: "warn",
        found: findingSentence("trusted", { names: trusted.join(", ") }),
        todo: findingSentence("trusted_todo"),
      });
    if (extensions.length > 0)
      found.push({
        level: "warn",
        found: findingSentence("extensions", { names: extensions.map(({ module }) => module).join(", ") }),
        todo: findingSentence("extensions_todo"),
      });
    return found.length > 0 ? found : [{ level: "ok", found: findingSentence("tools_fine") }];
  },
};
