import type { Logger } from "../../log.js";

/** A part that runs until it is told to stop. The log names it as it starts, and when it has stopped. */
export interface Part {
  stopped(): Promise<void>;
}

/** One that is not `used` ends at once and is not named. What it rejects with before it is stopped ends the process. */
export function startPart(log: Logger, name: string, used: boolean, run: () => Promise<void>): Part {
  const done = run();
  if (used) log.debug(`started: ${name}`);
  return {
    async stopped() {
      await Promise.allSettled([done]);
      if (used) log.debug(`stopped: ${name}`);
    },
  };
}
