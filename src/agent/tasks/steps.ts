import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { backoffMs } from "../../util/async/backoff.js";
import { InOrder } from "../../util/async/in-order.js";
import { sleep } from "../../util/async/sleep.js";

/** What is done about each task: one step after the other, each again while the engine takes nothing. */
export interface TaskSteps {
  /** Resolves once the step is done, or the process stops. Never rejects. */
  take(taskId: string, step: () => Promise<void>): Promise<void>;
  /** Resolves once nothing is under way. */
  settled(): Promise<void>;
}

const retry = { firstMs: 1000, longestMs: 60_000 };

export function createTaskSteps(log: Logger, signal: AbortSignal): TaskSteps {
  const inOrder = new InOrder<string>();

  const run = async (taskId: string, step: () => Promise<void>): Promise<void> => {
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await step();
      } catch (error) {
        // Fenced: its session is being deleted.
        if (error instanceof EngineError && (error.kind === "closed" || error.kind === "fenced")) return;
        log.warn(`A sub-agent waits to go on: ${messageOf(error)}`, { task: taskId, error });
        await sleep(backoffMs(failures, retry), signal).catch(() => undefined);
      }
    }
  };

  return {
    take: (taskId, step) => inOrder.run(() => run(taskId, step), taskId),
    settled: () => inOrder.settled(),
  };
}
