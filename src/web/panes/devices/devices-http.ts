import { type Api, type JsonObject, recordsIn } from "../../gateway/api.js";

/** A browser that is signed in. */
export interface DeviceView {
  readonly id: string;
  readonly name: string;
  readonly browser: string;
  readonly address: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** It is this one. */
  readonly isCurrent: boolean;
}

export interface DevicesView {
  /** Who has no token has nothing to sign in to. */
  readonly needsToken: boolean;
  readonly devices: readonly DeviceView[];
}

export interface InvitationView {
  readonly url: string;
  readonly expiresAt: Date;
  readonly warning: string | undefined;
}

/** What the pane of devices asks of the gateway. */
export type DevicesApi = Pick<Api, "get" | "post" | "delete">;

export async function readDevices(api: DevicesApi): Promise<DevicesView> {
  const { needsToken, devices } = await api.get("api/devices");
  return { needsToken: needsToken === true, devices: recordsIn(devices).map(deviceOf) };
}

export async function invite(api: DevicesApi): Promise<InvitationView> {
  const { url, expiresAt, warning } = await api.post("api/devices/invite", {});
  return {
    url: String(url),
    expiresAt: new Date(String(expiresAt)),
    warning: typeof warning === "string" ? warning : undefined,
  };
}

export function deviceAddress(id: string): string {
  return `api/devices/${encodeURIComponent(id)}`;
}

function deviceOf({ id, name, browser, address, firstSeen, lastSeen, current }: JsonObject): DeviceView {
  return {
    id: String(id),
    name: String(name),
    browser: String(browser),
    address: String(address),
    firstSeen: new Date(String(firstSeen)),
    lastSeen: new Date(String(lastSeen)),
    isCurrent: current === true,
  };
}
