import type { Driver } from "unstorage";
import { messageOf, StorageError } from "../../errors.js";
import { within } from "../../util/async/within.js";
import { Turns } from "./turns.js";

const callsAtOnce = 8;

type Work<T> = (driver: Driver) => T | Promise<T>;

class NoAnswer extends Error {}

export interface UnstorageOptions {
  /** As in the config, e.g. `redis`. */
  readonly name: string;
  /** Makes a driver with a connection of its own, at first use and again after a call that failed. */
  readonly open: () => Promise<Driver>;
  /** For one call to the driver. Default 5000. */
  readonly timeoutMs?: number;
}

/** Calls to a driver of unstorage, each with a time limit, over a connection that is made again after a failure. */
export class DriverCalls implements AsyncDisposable {
  readonly #options: UnstorageOptions;
  readonly #timeoutMs: number;
  readonly #turns = new Turns(callsAtOnce);
  #opened: Promise<Driver> | undefined;
  #isClosed = false;

  constructor(options: UnstorageOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 5000;
  }

  /** The time limit counts from a call's turn on: a slow storage is given as much as it can take. */
  call<T>(work: Work<T>): Promise<T> {
    return this.#turns.run(async () => {
      const isNew = this.#opened === undefined;
      try {
        return await this.#attempt(work);
      } catch (error) {
        // Servers cut connections that rest: only a new one tells whether the storage is there.
        if (isNew || this.#isClosed || (error instanceof Error && error.cause instanceof NoAnswer)) throw error;
        return await this.#attempt(work);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#opened === undefined) return;
    // A storage that does not let go holds up no stop.
    await answerOf(this.#timeoutMs, release(this.#opened)).catch(() => {});
    this.#opened = undefined;
  }

  async #attempt<T>(work: Work<T>): Promise<T> {
    if (this.#isClosed) throw new StorageError(`The session storage (${this.#options.name}) is closed`);
    this.#opened ??= this.#options.open();
    const current = this.#opened;
    let driver: Driver | undefined;
    try {
      return await answerOf(
        this.#timeoutMs,
        current.then((ready) => {
          driver = ready;
          return work(ready);
        }),
      );
    } catch (error) {
      // Its connection may be of no use any more, and what still waits there must not be written later. A driver without
      // `dispose` has no connection, or one that mends itself.
      if (driver === undefined || driver.dispose !== undefined) {
        if (this.#opened === current) this.#opened = undefined;
        void release(current);
      }
      const failure = new StorageError(withoutPassword(reasonOf(error)), { cause: error, retryable: true });
      if (driver === undefined || error instanceof NoAnswer) this.#turns.giveUp(failure);
      throw failure;
    }
  }
}

async function release(opened: Promise<Driver>): Promise<void> {
  try {
    await (await opened).dispose?.();
  } catch {
    // It is given up anyway.
  }
}

async function answerOf<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return await within(work, { ms: timeoutMs, late: () => new NoAnswer(`no answer within ${timeoutMs / 1000} s`) });
}

/** Where several addresses of one name refuse, the error itself says nothing. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join(", ");
  return messageOf(error);
}

function withoutPassword(text: string): string {
  return text.replaceAll(/:\/\/[^/@\s]*@/g, "://***@");
}
