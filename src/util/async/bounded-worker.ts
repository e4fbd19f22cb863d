import { Worker } from "node:worker_threads";

export interface WorkerLimits {
  readonly timeoutMs: number;
  /** Of the worker's own heap, and of what the whole process grows by while it runs. */
  readonly memoryMb: number;
}

/** How a worker's work ended; `error` is what it threw. */
export type WorkerEnd =
  | { readonly kind: "done" }
  | { readonly kind: "timeout" }
  | { readonly kind: "memory" }
  | { readonly kind: "failed"; readonly error: unknown };

const watchEveryMs = 50;

/**
 * Runs a script in a thread of its own, which is ended when it takes too long, takes too much memory or `signal` aborts:
 * input that others made may take for ever, and must hold up nobody. Resolves when the thread is gone.
 *
 * @throws the signal's reason
 */
export async function runBoundedWorker(
  script: URL,
  work: { readonly data: unknown; readonly onMessage: (message: unknown) => void },
  { timeoutMs, memoryMb }: WorkerLimits,
  signal: AbortSignal,
): Promise<WorkerEnd> {
  signal.throwIfAborted();
  const worker = new Worker(script, {
    workerData: work.data,
    env: {},
    execArgv: [],
    // What libraries print is for nobody.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const state: { end: WorkerEnd } = { end: { kind: "done" } };
  const finish = (end: WorkerEnd): void => {
    state.end = end;
    void worker.terminate();
  };
  const startRss = process.memoryUsage.rss();
  // Buffers are not part of the heap that the limits above count.
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - startRss > memoryMb * 1024 * 1024) finish({ kind: "memory" });
  }, watchEveryMs);
  const timer = setTimeout(() => finish({ kind: "timeout" }), timeoutMs);
  const onAbort = (): void => finish({ kind: "done" });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await new Promise<void>((resolve) => {
      worker.on("message", work.onMessage);
      worker.once("error", (error: NodeJS.ErrnoException) => {
        const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
        state.end = isMemory ? { kind: "memory" } : { kind: "failed", error };
      });
      worker.once("exit", () => resolve());
    });
  } finally {
    clearInterval(watch);
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
  signal.throwIfAborted();
  return state.end;
}
