import type { PairedSender, PairingRequest } from "../../policy/pairing.js";

/** Strangers who ask to be let in, and those who were. */
export interface PairingsApi {
  listPairings(): { readonly waiting: readonly PairingRequest[]; readonly paired: readonly PairedSender[] };
  /** @throws {RequestError} 404 for an unknown or expired code, 429 after too many wrong ones */
  approvePairing(code: string): Promise<PairedSender>;
  /** Nobody sees that they wait, and they get no other code for a day. @throws {RequestError} 404 */
  refusePairing(code: string): Promise<void>;
  /** @throws {RequestError} 404 */
  revokePairing(channel: string, senderId: string): Promise<void>;
}
