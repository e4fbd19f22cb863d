import type { RunningTurns } from "../../agent/turn/running-turns.js";
import { settledWithin } from "../../util/async/within.js";

const stopLimitMs = 2000;

/** Resolves once the session has no live turn, or after a while. */
export async function endOfTurn(running: Pick<RunningTurns, "ended">, key: string): Promise<void> {
  await settledWithin(running.ended(key), { ms: stopLimitMs });
}
