import type { PairingsApi } from "../../../../../src/api/policy/pairings-api.js";
import { RequestError } from "../../../../../src/errors.js";

const pairedAt = "2026-01-01T00:00:00.000Z";

/** `codes`: those that are waiting, each with its sender. */
export function memoryPairings(codes: ReadonlyMap<string, string>): PairingsApi {
  const paired = new Set<string>();
  const toPaired = (sender: string) => {
    const [channel = "", senderId = ""] = sender.split(":");
    return { channel, senderId, pairedAt };
  };
  return {
    listPairings: () => ({ waiting: [], paired: [...paired].map(toPaired) }),
    async approvePairing(code) {
      const sender = codes.get(code);
      if (sender === undefined)
        throw new RequestError("No one waits with that code", { status: 404, code: "not_found" });
      paired.add(sender);
      return toPaired(sender);
    },
    async refusePairing() {
      throw new RequestError("No one waits with that code", { status: 404, code: "not_found" });
    },
    async revokePairing(channel, senderId) {
      if (!paired.delete(`${channel}:${senderId}`))
        throw new RequestError("That sender is not paired", { status: 404, code: "not_found" });
    },
  };
}
