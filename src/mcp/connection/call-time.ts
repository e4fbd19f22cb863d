/** How long one call may take. The time rests while a person is asked, who may take hours. */
export class CallTime implements Disposable {
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.#controller.abort(this.#parent.reason);
  #leftMs: number;
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #resting = 0;

  constructor(ms: number, parent: AbortSignal) {
    this.#leftMs = ms;
    this.#parent = parent;
    if (parent.aborted) this.#onAbort();
    else parent.addEventListener("abort", this.#onAbort, { once: true });
    this.#run();
  }

  /** Aborts when the time is over, with a `CallTimeout`, and with the parent. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async rest<T>(work: () => Promise<T>): Promise<T> {
    if (this.#resting++ === 0) {
      clearTimeout(this.#timer);
      this.#leftMs -= performance.now() - this.#since;
    }
    try {
      return await work();
    } finally {
      if (--this.#resting === 0) this.#run();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#parent.removeEventListener("abort", this.#onAbort);
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(new CallTimeout()), Math.max(0, this.#leftMs));
  }
}

/** A call has taken longer than it may. */
export class CallTimeout extends Error {
  override readonly name = "CallTimeout";
}
