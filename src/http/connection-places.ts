import { RequestError } from "../errors.js";

/** Counts the long-lived connections. */
export interface Places {
  /** Returns the undo. @throws {RequestError} 503 when all are taken */
  take(): () => void;
}

export function createPlaces(max: number): Places {
  let taken = 0;
  return {
    take() {
      if (taken >= max)
        throw new RequestError(`All ${max} connections are in use.`, {
          status: 503,
          code: "BUFFER_FULL",
          retryAfterMs: 5000,
        });
      taken++;
      let isHeld = true;
      return () => {
        if (isHeld) taken--;
        isHeld = false;
      };
    },
  };
}
