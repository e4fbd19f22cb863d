import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";

/** What is done about each task: one step after the other, each again while the engine takes nothing. */
export interface TaskSteps {
  /** Resolves once the step is done, or the process stops. Never rejects. */
  take(taskId: string, step: () => Promise<void>): Promise<void>;
  /** Resolves once nothing is under way. */
  settled(): Promise<void>;
}

const firstRetryMs = 1000;
const longestRetryMs = 60_000;

export function createTaskSteps(log: Logger, signal: AbortSignal): TaskSteps {
  const work = new Map<string, Promise<void>>();

  const run = async (taskId: string, step: () => Promise<void>): Promise<void> => {
    for (let waitMs = firstRetryMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        return await step();
      } catch (error) {
        // Fenced: its session is being deleted.
        if (error instanceof EngineError && (error.kind === "closed" || error.kind === "fenced")) return;
        log.warn(`A sub-agent waits to go on: ${messageOf(error)}`, { task: taskId, error });
        await sleep(waitMs, signal).catch(() => undefined);
      }
    }
  };

  return {
    take(taskId, step) {
      const taken = (work.get(taskId) ?? Promise.resolve())
        .then(() => run(taskId, step))
        .then(() => {
          if (work.get(taskId) === taken) work.delete(taskId);
        });
      work.set(taskId, taken);
      return taken;
    },
    async settled() {
      await Promise.all(work.values());
    },
  };
}
