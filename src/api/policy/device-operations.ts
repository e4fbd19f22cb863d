import { RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import type { Devices } from "../../policy/devices/devices.js";
import type { Invitations } from "../../policy/devices/invitations.js";
import type { DevicesApi } from "./devices-api.js";

/** Browsers that are signed in. Each that comes or is signed out is in the gateway's log. */
export function createDeviceOperations(
  { devices, invitations }: { readonly devices: Devices; readonly invitations: Invitations },
  logEvent: (event: EventDraft) => Promise<void>,
): DevicesApi {
  const logChange = (change: { readonly from?: string; readonly to: string }): Promise<void> =>
    logEvent(draft("settings_changed", { scope: "gateway", key: "device", ...change }, { source: "client" }));
  const signIn: DevicesApi["signIn"] = async (visit) => {
    const signedIn = await devices.add(visit);
    const { id, name } = signedIn.device;
    await logChange({ to: `${name} (${id})` });
    return signedIn;
  };
  return {
    list: () => devices.list(),
    async rename(id, name) {
      const device = await devices.rename(id, name);
      if (device !== undefined) return device;
      if (devices.isKnown(id)) throw new RequestError("name: needs a letter", { status: 400, code: "bad_request" });
      throw unknownDevice(id);
    },
    async remove(id) {
      const device = (await devices.list()).find((one) => one.id === id);
      if (device === undefined || !(await devices.remove(id))) throw unknownDevice(id);
      await logChange({ from: `${device.name} (${id})`, to: "" });
    },
    async invite() {
      await devices.settle();
      return await invitations.create();
    },
    signIn,
    async join(code, visit) {
      await devices.settle();
      return (await invitations.redeem(code)) ? await signIn(visit) : undefined;
    },
    find: (secret, visit) => devices.find(secret, visit),
    isKnown: (id) => devices.isKnown(id),
    wasSignedOut: (secret) => devices.wasSignedOut(secret),
    onRemoved: (listener) => devices.onRemoved(listener),
  };
}

function unknownDevice(id: string): RequestError {
  return new RequestError(`There is no device ${id}. maxclaw devices list shows those that are signed in.`, {
    status: 404,
    code: "not_found",
  });
}
