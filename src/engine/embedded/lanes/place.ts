import type PQueue from "p-queue";

/** One of a consumer's places, which its holder may leave for a while. */
export class Place {
  readonly #places: PQueue;
  readonly #signal: AbortSignal;
  #leave: () => void;

  private constructor(places: PQueue, signal: AbortSignal, leave: () => void) {
    this.#places = places;
    this.#signal = signal;
    this.#leave = leave;
  }

  /** Runs `work` with a place as soon as there is one. Work that has not begun when `places` is cleared never does. */
  static hold(places: PQueue, signal: AbortSignal, work: (place: Place) => Promise<void>): void {
    const task = (leave: () => void): void => {
      const place = new Place(places, signal, leave);
      void work(place).finally(() => place.leave());
    };
    void places.add(() => new Promise<void>(task));
  }

  /** Lets others have it. Leaving twice does nothing. */
  leave(): void {
    this.#leave();
  }

  /** Resolves with a place again, before those who have not begun; without one when the consumer is stopped. */
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
      void this.#places.add(() => new Promise<void>(task), { priority: 1 });
    });
  }
}
