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
        found: `agents.defaults.executionMode is "auto": tools ask nobody${hasNoWalls ? ", and commands have no sandbox" : ""}`,
        todo: 'Set it to "ask"',
      });
    else if (hasNoWalls)
      found.push({
        level: "warn",
        found: "tools.exec.sandbox is off: an allowed command can read all that you can",
        todo: 'Set it to "auto"',
      });
    if (!tools.restrictToWorkspace)
      found.push({
        level: "warn",
        found: "tools.restrictToWorkspace is off: tools reach all files of this account",
        todo: "Set it to true",
      });
    if (tools.web.fetch.allow.length > 0)
      found.push({
        level: "warn",
        found: `tools.web.fetch.allow lets the model reach ${tools.web.fetch.allow.join(", ")} inside of your network`,
        todo: "Keep it as short as it can be",
      });
    const noSandbox = tools.browser.enabled && tools.browser.args.includes("--no-sandbox");
    if (noSandbox)
      found.push({
        level: "warn",
        found: "tools.browser.args has --no-sandbox: a web page that breaks the browser has all rights of this account",
        todo: "Leave it out where the system gives the browser its sandbox",
      });
    const trusted = Object.entries(tools.mcpServers).flatMap(([name, server]) => (server.trusted ? [name] : []));
    if (trusted.length > 0)
      found.push({
        level: "warn",
        found: `What these MCP servers say about their own tools is believed: ${trusted.join(", ")}`,
        todo: "Set trusted only for servers of your own",
      });
    if (extensions.length > 0)
      found.push({
        level: "warn",
        found: `Extensions run with all rights of the gateway: ${extensions.map(({ module }) => module).join(", ")}`,
        todo: "Keep only those whose code you know",
      });
    return found.length > 0 ? found : [{ level: "ok", found: "Tools ask, and stay in the workspace" }];
  },
};
