import { setMaxListeners } from "node:events";

type React = () => void;

/** What is to happen when a signal aborts. The signal itself has at most one listener for all of it. */
const reactions = new WeakMap<AbortSignal, Set<React>>();
/** Those that are aborted here alone. They need no listener. */
const own = new WeakSet<AbortSignal>();

/**
 * Calls `react` once `signal` aborts, at once where it has, unless it is let go before by the function that is given back. What runs for
 * each message uses this: a listener of an AbortSignal takes several times as long to add and to take away, and long-lived
 * signals would have thousands.
 */
export function onAbort(signal: AbortSignal, react: React): () => void {
  if (signal.aborted) {
    react();
    return () => {};
  }
  const known = reactions.get(signal);
  const all = known ?? new Set<React>();
  if (known === undefined) {
    reactions.set(signal, all);
    // As many wait for it as there is work; each lets go, so that their number is not a leak.
    setMaxListeners(0, signal);
    if (!own.has(signal)) signal.addEventListener("abort", () => runAll(signal), { once: true });
  }
  all.add(react);
  return () => all.delete(react);
}

/** An AbortController of which `onAbort` knows without listening to it. */
export class QuickAbort {
  readonly #controller = new AbortController();

  constructor() {
    own.add(this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    const { signal } = this.#controller;
    if (signal.aborted) return;
    this.#controller.abort(reason);
    runAll(signal);
  }
}

function runAll(signal: AbortSignal): void {
  const all = reactions.get(signal);
  reactions.delete(signal);
  for (const react of all ?? []) react();
}
