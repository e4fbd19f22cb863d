import { messageOf, StorageError } from "../../errors.js";
import { type Logger, silentLog } from "../../log.js";
import { within } from "../../util/async/within.js";
import type { Change, StorageDriver } from "./storage.js";

const defaultTimeoutMs = 5000;
/** After a call without an answer the next ones fail at once for so long. */
const restMs = 1000;

interface GuardedOptions {
  /** For one call. Default 5000. */
  readonly timeoutMs?: number;
  readonly log?: Logger;
}

/** A storage that somebody else has written: whatever it throws is a StorageError, and no call of it takes for ever. */
export class GuardedStorage implements StorageDriver {
  readonly #storage: StorageDriver;
  readonly #timeoutMs: number;
  readonly #log: Logger;
  #restsUntil = 0;
  /** Changes whose time was over and that may still happen. */
  #late = 0;
  /** While there are such: the newest change of each record, to be made again over them. */
  readonly #newest = new Map<string, Change>();

  constructor(storage: StorageDriver, { timeoutMs = defaultTimeoutMs, log = silentLog }: GuardedOptions = {}) {
    this.#storage = storage;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  get name(): string {
    return this.#storage.name;
  }

  get(key: string): Promise<object | undefined> {
    return this.#call(() => this.#storage.get(key));
  }

  getMany(keys: readonly string[]): Promise<readonly (object | undefined)[]> {
    return this.#call(() => this.#storage.getMany(keys));
  }

  keys(prefix: string): Promise<readonly string[]> {
    return this.#call(() => this.#storage.keys(prefix));
  }

  set(key: string, value: object): Promise<void> {
    return this.#write([{ key, value }], () => this.#storage.set(key, value));
  }

  delete(key: string): Promise<void> {
    return this.#write([{ key, value: undefined }], () => this.#storage.delete(key));
  }

  change(changes: readonly Change[]): Promise<void> {
    return this.#write(changes, () => this.#storage.change(changes));
  }

  /** A storage that does not let go holds up no stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    const limit = Date.now() < this.#restsUntil ? restMs : this.#timeoutMs;
    const closing = (async () => await this.#storage[Symbol.asyncDispose]?.())();
    await within(closing, { ms: limit, late: () => this.#noAnswer(limit) }).catch((error: unknown) => {
      this.#log.warn(`The session storage did not close well: ${this.#failed(error).message}`);
    });
  }

  async #write(changes: readonly Change[], action: () => Promise<void>): Promise<void> {
    if (this.#late > 0) for (const change of changes) this.#newest.set(change.key, change);
    let work: Promise<void> = Promise.resolve();
    const begin = (): Promise<void> => {
      work = (async () => await action())();
      return work;
    };
    await this.#call(begin, () => this.#watch(work, changes));
  }

  /** A write that happens after its time must not stay over a newer one. */
  #watch(work: Promise<void>, changes: readonly Change[]): void {
    this.#late += 1;
    const again = async (): Promise<void> => {
      this.#late -= 1;
      const newer = changes.flatMap(({ key }) => this.#newest.get(key) ?? []);
      if (this.#late === 0) this.#newest.clear();
      if (newer.length > 0) await this.change(newer);
    };
    // A failure of the repeat is a failure like any other one of this storage: the next write or start finds it.
    work.then(again, again).catch(() => undefined);
  }

  async #call<T>(action: () => Promise<T>, onLate: () => void = () => {}): Promise<T> {
    if (Date.now() < this.#restsUntil) throw this.#failed(this.#noAnswer(this.#timeoutMs));
    try {
      const late = (): Error => {
        this.#restsUntil = Date.now() + restMs;
        onLate();
        return this.#noAnswer(this.#timeoutMs);
      };
      return await within((async () => await action())(), { ms: this.#timeoutMs, late });
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #noAnswer(ms: number): StorageError {
    return new StorageError(`${this.name}: no answer within ${ms / 1000} s`, { retryable: true });
  }

  #failed(error: unknown): StorageError {
    return error instanceof StorageError
      ? error
      : new StorageError(`${this.name}: ${messageOf(error)}`, { cause: error });
  }
}
