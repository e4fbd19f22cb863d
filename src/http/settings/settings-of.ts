import type { ToolsApi } from "../../api/policy/tools-api.js";
import type { McpSetupApi } from "../../api/settings/mcp-setup-api.js";
import type { OwnerCodesApi } from "../../api/settings/owner-codes-api.js";
import type { SettingsApi } from "../../api/settings/settings-api.js";
import { RequestError } from "../../errors.js";
import type { Exchange } from "../exchange.js";

/** @throws {RequestError} 404 where the gateway has no settings that can be changed */
export function settingsOf({ api }: Exchange): SettingsApi {
  if (api.settings !== undefined) return api.settings;
  throw absent();
}

/** @throws {RequestError} 404, for the same reason */
export function ownerCodesOf({ api }: Exchange): OwnerCodesApi {
  if (api.setup !== undefined) return api.setup.ownerCodes;
  throw absent();
}

/** @throws {RequestError} 404, for the same reason */
export function mcpSetupOf({ api }: Exchange): McpSetupApi {
  if (api.setup !== undefined) return api.setup.mcp;
  throw absent();
}

/** @throws {RequestError} 404 where nothing is worked on */
export function toolsOf({ api }: Exchange): ToolsApi {
  if (api.tools !== undefined) return api.tools;
  throw absent();
}

function absent(): RequestError {
  return new RequestError("The settings of this gateway cannot be read here.", { status: 404, code: "not_found" });
}
