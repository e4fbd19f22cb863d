import type { McpApi } from "../../api/mcp-api.js";
import type { McpSetupApi } from "../../api/settings/mcp-setup-api.js";
import type { LiveConfig } from "../../config/live/live-config.js";
import { configOf } from "../../config/load.js";
import { applied, editsFor } from "../../config/settings/edits.js";
import { assertMayChange } from "../../config/settings/guarded.js";
import { inside } from "../../config/settings/hide.js";
import { assertSecretsStay } from "../../config/settings/secrets-stay.js";
import { SettingsFile } from "../../config/settings/settings-file.js";
import { findingIn } from "../../config/settle.js";
import { isObject } from "../../config/substitute.js";
import { RequestError } from "../../errors.js";
import { McpLogins } from "../../mcp/auth/logins.js";
import { unknownServer } from "../../mcp/family.js";
import { type McpServerSettings, toServerSettings } from "../../mcp/settings.js";
import type { Releases } from "../../util/async/releases.js";
import type { GatewayOptions } from "../options.js";

/** Setting up servers that offer tools; nothing where the config does not come from a file. */
export function createMcpSetup(
  { home, version, config: running, env }: GatewayOptions,
  live: LiveConfig,
  mcp: McpApi,
  releases: Releases,
): McpSetupApi | undefined {
  if (env === undefined) return undefined;
  const file = new SettingsFile({ home, path: running.path, env, live });
  const onDone = (name: string): void => mcp.reconnect(name);
  const logins = releases.use(new McpLogins({ home, version, onDone }), "MCP logins");
  const hasToken = (): boolean => live.running.gateway.token !== undefined;
  return {
    async tryServer(name, section, signal) {
      const { config: shown } = await file.read();
      const raw = await file.raw();
      const known = inside(inside(shown, "tools"), "mcpServers");
      const mcpServers = { ...(isObject(known) ? known : {}), [name]: { ...section, enabled: true } };
      const edits = editsFor(shown, raw, { tools: { mcpServers } });
      // What is only tried runs a program, too.
      assertMayChange(edits, hasToken(), file.path);
      assertSecretsStay(raw, edits);
      const next = await configOf(applied(raw, edits), { home, env });
      const server = settingsOf(name, next.config.tools.mcpServers);
      if (server === undefined) {
        const found = next.problems.filter((problem) => problem.includes(`mcpServers.${name}`)).map(findingIn);
        throw wrong(found.length === 0 ? `${name} is not a server that can be tried.` : `${found.join(". ")}.`);
      }
      const { tryServer } = await import("../../mcp/try-server.js");
      const { workspace } = live.running.agents.defaults;
      const outcome = await tryServer(server, { home, workspace, version, secrets: next.secrets }, signal);
      return outcome.ok ? { ok: true, tools: outcome.tools } : { ok: false, error: outcome.reason };
    },
    async beginLogin(name) {
      if (!hasToken())
        throw new RequestError(
          "A login can be begun here only where gateway.token is set, because any program on this machine could do it. Use: maxclaw mcp login",
          { status: 403, code: "forbidden" },
        );
      return await logins.begin(known(live, name));
    },
    loginState: (name) => logins.stateOf(name),
    finishLogin: (name, address) => logins.finish(name, address),
    endLogin: (name) => logins.end(name),
    async forgetLogin(name) {
      logins.end(name);
      const { createLoginStore } = await import("../../mcp/auth/oauth.js");
      await createLoginStore(home).remove(name);
    },
  };
}

type Sections = Parameters<typeof toServerSettings>[0];

function settingsOf(name: string, sections: Sections): McpServerSettings | undefined {
  return toServerSettings(sections).find((server) => server.name === name);
}

function known({ running }: LiveConfig, name: string): McpServerSettings {
  const { mcpServers } = running.tools;
  const found = settingsOf(name, mcpServers);
  if (found === undefined) throw unknownServer(name, Object.keys(mcpServers));
  return found;
}

function wrong(message: string): RequestError {
  return new RequestError(message, { status: 400, code: "bad_request" });
}
