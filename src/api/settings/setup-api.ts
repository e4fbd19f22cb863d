import type { McpSetupApi } from "./mcp-setup-api.js";
import type { OwnerCodesApi } from "./owner-codes-api.js";

/** What a person sets up step by step. */
export interface SetupApi {
  /** Codes that make who sends them to a bot an owner. */
  readonly ownerCodes: OwnerCodesApi;
  /** Trying servers that offer tools before they are in the config, and logins at them. */
  readonly mcp: McpSetupApi;
}
