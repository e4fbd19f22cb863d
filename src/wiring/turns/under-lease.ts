import type { Engine } from "../../engine/engine.js";
import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { Alone } from "../../util/async/alone.js";
import { linked } from "../../util/async/linked.js";
import { sleep } from "../../util/async/sleep.js";

const retryMs = 5000;

/**
 * Does `work` while this node holds the lease of that name, and again whenever it gets it back, until `signal` aborts.
 * The signal that `work` gets aborts with the lease as well. What `work` throws is passed on.
 */
export async function underLease(
  engine: Pick<Engine, "lease">,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  { signal, log }: { readonly signal: AbortSignal; readonly log: Logger },
): Promise<void> {
  while (!signal.aborted) {
    const lease = await engine.lease(name, signal).catch((error: unknown) => {
      if (!signal.aborted && !isClosed(error)) log.warn(`The lease of ${name} was not given: ${messageOf(error)}`);
      return isClosed(error) ? "closed" : undefined;
    });
    if (lease === "closed") return;
    if (lease === undefined) {
      await sleep(retryMs, signal).catch(() => undefined);
      continue;
    }
    await using held = lease;
    using scope = linked(signal);
    const stop = (): void => scope.abort(held.lost.reason);
    held.lost.addEventListener("abort", stop, { once: true });
    if (held.lost.aborted) stop();
    await work(scope.signal);
  }
}

/** Does short work while this node holds the lease of that name. Rejects when the engine cannot give it. */
export function holdingLease(engine: Pick<Engine, "lease">, name: string): Alone {
  const never = new AbortController().signal;
  return async (work) => {
    const lease = await engine.lease(name, never);
    try {
      return await work();
    } finally {
      await lease[Symbol.asyncDispose]();
    }
  };
}

function isClosed(error: unknown): boolean {
  return error instanceof EngineError && error.kind === "closed";
}
