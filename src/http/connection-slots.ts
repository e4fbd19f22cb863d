import { RequestError } from "../errors.js";
import { newId } from "../util/ids.js";

/** Counts the long-lived connections. */
export interface ConnectionSlots {
  /** Returns the undo. `client`: what kind of client stays connected. @throws {RequestError} 503 when all are taken */
  take(client?: string): () => void;
}

/** @param onClient told about each client that stays connected; returns what to call when it has gone */
export function createConnectionSlots(
  max: number,
  onClient: (name: string) => () => void = () => () => {},
): ConnectionSlots {
  let taken = 0;
  return {
    take(client) {
      if (taken >= max)
        throw new RequestError(`All ${max} connections are in use.`, {
          status: 503,
          code: "BUFFER_FULL",
          retryAfterMs: 5000,
        });
      taken++;
      const onGone = client === undefined ? undefined : onClient(newId(client));
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        taken--;
        onGone?.();
      };
    },
  };
}
