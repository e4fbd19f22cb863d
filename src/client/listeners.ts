import type { Undo } from "./subscriptions.js";

/** Who wants to hear about one thing. */
export class Listeners<Values extends readonly unknown[]> {
  readonly #all = new Set<(...values: Values) => void>();

  add(listener: (...values: Values) => void): Undo {
    this.#all.add(listener);
    return () => {
      this.#all.delete(listener);
    };
  }

  emit(...values: Values): void {
    for (const listener of this.#all) call(() => listener(...values));
  }
}

/** Runs a listener; what it throws holds up nobody, and is thrown again outside. */
export function call(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
