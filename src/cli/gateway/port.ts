import type { GatewayApi } from "../../api/gateway-api.js";
import type { LoadedConfig } from "../../config/load.js";
import type { Logger } from "../../log.js";

/** What the commands need of the gateway. */
export interface GatewayHandle extends AsyncDisposable {
  readonly api: GatewayApi;
  /** `127.0.0.1:18890`. */
  readonly address: string;
  readonly pageUrl: string;
  drain(graceMs: number): Promise<void>;
}

export type OpenGateway = (options: {
  readonly config: LoadedConfig;
  readonly home: string;
  readonly log: Logger;
  readonly version: string;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly http?: { readonly host?: string | undefined; readonly port?: number | undefined } | false;
  readonly runs?: { readonly channels?: boolean; readonly work?: boolean };
}) => Promise<GatewayHandle>;

/** Loads the gateway with everything it needs: only commands that run one pay for that. */
export async function loadGateway(): Promise<OpenGateway> {
  const { openGateway } = await import("../../gateway.js");
  return openGateway;
}
