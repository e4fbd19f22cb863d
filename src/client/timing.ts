import type { RetryTiming } from "./connection.js";

export interface ClientTiming extends RetryTiming {
  readonly commandTimeoutMs: number;
  /** After so long without a word from the gateway it is asked whether it is still there. */
  readonly idleMs: number;
}
