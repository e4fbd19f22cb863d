import type { DevicesApi } from "../../api/policy/devices-api.js";

/** What is open for each device. It ends at once when the device is signed out. */
export class Connections {
  readonly #devices: Pick<DevicesApi, "isKnown">;
  readonly #open = new Map<string, Set<() => void>>();
  /** Ends the watching, not what is open. */
  readonly close: () => void;

  constructor(devices: Pick<DevicesApi, "isKnown" | "onRemoved">) {
    this.#devices = devices;
    this.close = devices.onRemoved((id) => {
      for (const end of this.#open.get(id) ?? []) end();
    });
  }

  /** Returns what to call when it has ended. `device`: absent for who has the token. */
  add(device: string | undefined, end: () => void): () => void {
    if (device === undefined) return () => {};
    const ends = this.#open.get(device) ?? new Set();
    this.#open.set(device, ends.add(end));
    // It may have been signed out since its cookie was looked at.
    if (!this.#devices.isKnown(device)) end();
    return () => {
      ends.delete(end);
      if (ends.size === 0) this.#open.delete(device);
    };
  }
}
