import { messageOf } from "../../../errors.js";
import { toServerSettings } from "../../../mcp/settings.js";
import { within } from "../../../util/async/within.js";
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
    const late = (): Error => new Error(`no answer within ${limitMs / 1000} s`);
    return await Promise.all(
      servers.map(async (server): Promise<Finding> => {
        const outcome = await within(tryServer(server, place, signal), { ms: limitMs, signal, late }).catch(
          (error: unknown) => ({ ok: false, reason: messageOf(error) }) as const,
        );
        if (outcome.ok) return { level: "ok", found: `${server.name} answers, with ${outcome.tools.length} tools` };
        return {
          level: "fail",
          found: `${server.name}: ${outcome.reason}`,
          todo: `maxclaw mcp test ${server.name}, or switch it off`,
        };
      }),
    );
  },
};
