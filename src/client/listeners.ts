import type { Undo } from "./subscriptions.js";

/** Who wants to hear of one thing. */
export class Listeners<Told extends readonly unknown[]> {
  readonly #all = new Set<(...told: Told) => void>();

  add(listener: (...told: Told) => void): Undo {
    this.#all.add(listener);
    return () => {
      this.#all.delete(listener);
    };
  }

  tell(...told: Told): void {
    for (const listener of this.#all) call(() => listener(...told));
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
