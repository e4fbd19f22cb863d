import type PQueue from "p-queue";

/** One of a consumer's slots, which its holder may leave for a while. */
export class Slot {
  readonly #slots: PQueue;
  readonly #signal: AbortSignal;
  #leave: () => void;

  private constructor(slots: PQueue, signal: AbortSignal, leave: () => void) {
    this.#slots = slots;
    this.#signal = signal;
    this.#leave = leave;
  }

  /** Runs `work` with a slot as soon as there is one. Work that has not begun when `slots` is cleared never does. */
  static hold(slots: PQueue, signal: AbortSignal, work: (slot: Slot) => Promise<void>): void {
    const task = (leave: () => void): void => {
      const slot = new Slot(slots, signal, leave);
      void work(slot).finally(() => slot.leave());
    };
    void slots.add(() => new Promise<void>(task));
  }

  /** Lets others have it. Leaving twice does nothing. */
  leave(): void {
    this.#leave();
  }

  /** Resolves with a slot again, before those who have not begun; without one when the consumer is stopped. */
  async retake(): Promise<void> {
    const signal = this.#signal;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        signal.removeEventListener("abort", settle);
        resolve();
      };
      signal.addEventListener("abort", settle);
      const task = (leave: () => void): void => {
        this.#leave = leave;
        settle();
      };
      void this.#slots.add(() => new Promise<void>(task), { priority: 1 });
    });
  }
}
