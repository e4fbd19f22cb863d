import { RequestError } from "../../errors.js";
import { draft, type EventDraft } from "../../events/event.js";
import type { Pairing } from "../../policy/pairing.js";
import type { PairingsApi } from "./pairings-api.js";

/** Strangers who ask to be let in, and those who were. */
export function createPairingOperations(pairing: Pairing, logEvent: (event: EventDraft) => Promise<void>): PairingsApi {
  const logChange = (change: { readonly from?: string; readonly to: string }): Promise<void> =>
    logEvent(draft("settings_changed", { scope: "gateway", key: "pairing", ...change }, { source: "client" }));
  return {
    listPairings: () => pairing.list(),
    async approvePairing(code) {
      const paired = await pairing.approve(code);
      if (paired === undefined) throw unknownCode(code);
      await logChange({ to: `${paired.channel}:${paired.senderId}` });
      return paired;
    },
    async refusePairing(code) {
      if (!(await pairing.refuse(code))) throw unknownCode(code);
      await logChange({ to: "refused" });
    },
    async revokePairing(channel, senderId) {
      if (!(await pairing.revoke(channel, senderId)))
        throw new RequestError(`${channel}:${senderId} is not paired`, { status: 404, code: "not_found" });
      await logChange({ from: `${channel}:${senderId}`, to: "" });
    },
  };
}

function unknownCode(code: string): RequestError {
  return new RequestError(
    `No one is waiting with the code ${code}: it is mistyped or older than 10 minutes, or they were let in or refused already.`,
    { status: 404, code: "not_found" },
  );
}
