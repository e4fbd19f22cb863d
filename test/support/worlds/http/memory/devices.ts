import { createDeviceOperations } from "../../../../../src/api/policy/device-operations.js";
import type { DevicesApi } from "../../../../../src/api/policy/devices-api.js";
import { type DeviceOptions, Devices } from "../../../../../src/policy/devices/devices.js";
import { Invitations } from "../../../../../src/policy/devices/invitations.js";
import type { PairingRecords } from "../../../../../src/policy/pairing.js";

/** Records as the engine has them, in memory. */
export function memoryRecords(kept = new Map<string, unknown>()): PairingRecords {
  return {
    get: (id) => kept.get(id),
    put: async (id, value) => void kept.set(id, value),
    delete: async (id) => void kept.delete(id),
    async update(id, change) {
      const value = change(kept.get(id));
      if (value === undefined) kept.delete(id);
      else kept.set(id, value);
      return value;
    },
    list: () => [...kept].map(([id, value]) => ({ id, value })),
  };
}

/** The real devices over records in memory. */
export function memoryDevices(options: Partial<DeviceOptions> = {}, records = memoryRecords()): DevicesApi {
  const { now = Date.now, token = "any", idleDays = () => 90 } = options;
  const devices = new Devices(records, { now, token, idleDays });
  return createDeviceOperations({ devices, invitations: new Invitations(records, now) }, async () => {});
}
