import { rm } from "node:fs/promises";
import { sleep } from "../async/sleep.js";

const pausesMs = [100, 200, 400, 800];

/** Removes what nobody needs any more, and somebody may still write into: what a killed process has started. If it cannot be removed it stays. */
export async function removeLeftover(path: string): Promise<void> {
  const { signal } = new AbortController();
  for (const pauseMs of [...pausesMs, undefined]) {
    try {
      return await rm(path, { recursive: true, force: true });
    } catch {
      // Something came in meanwhile, or this account may not: the next update or change of packages tries again.
      if (pauseMs !== undefined) await sleep(pauseMs, signal);
    }
  }
}
