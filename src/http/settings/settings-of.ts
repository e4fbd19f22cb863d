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
  if (api.ownerCodes !== undefined) return api.ownerCodes;
  throw absent();
}

/** What `If-Match` names; undefined where the client changes whatever is there. */
export function revisionOf({ request }: Exchange): string | undefined {
  return /^\s*(?:W\/)?"?([0-9a-f]+)"?\s*$/.exec(request.headers["if-match"] ?? "")?.[1];
}

function absent(): RequestError {
  return new RequestError("The settings of this gateway cannot be read here.", { status: 404, code: "not_found" });
}
