import { messageOf } from "../../../errors.js";
import { toServerSettings } from "../../../mcp/settings.js";
import { within } from "../../../util/async/within.js";
import { findingSentence } from "../../../util/words/finding-sentences.js";
import type { Check, Finding } from "../../check.js";

const limitMs = 30_000;

/** Connects once to each MCP server, and lists its tools. */
export const mcpCheck: Check = {
  name: "MCP",
  isLive: true,
  limitMs: limitMs + 5000,
  async run({ loaded, home, version }, signal) {
    const servers = toServerSettings(loaded.config.tools.mcpServers);
    if (servers.length === 0) return [];
    const { tryServer } = await import("../../../mcp/try-server.js");
    const place = { home, workspace: loaded.config.agents.defaults.workspace, version, secrets: loaded.secrets };
    const late = (): Error => new Error(findingSentence("no_answer", { seconds: limitMs / 1000 }));
    return await Promise.all(
      servers.map(async (server): Promise<Finding> => {
        const outcome = await within(tryServer(server, place, signal), { ms: limitMs, signal, late }).catch(
          (error: unknown) => ({ ok: false, reason: messageOf(error) }) as const,
        );
        if (outcome.ok)
          return { level: "ok", found: findingSentence("mcp_fine", { name: server.name, n: outcome.tools.length }) };
        return {
          level: "fail",
          found: findingSentence("of_one", { name: server.name, reason: outcome.reason }),
          todo: findingSentence("mcp_todo", { name: server.name }),
        };
      }),
    );
  },
};
