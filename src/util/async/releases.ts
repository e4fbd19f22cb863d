import { type Logger, silentLog } from "../../log.js";

/** What must be undone at the end, in reverse order. Each release runs once, also when an earlier one failed. */
export class Releases implements AsyncDisposable {
  #releases: (() => void | Promise<void>)[] = [];
  readonly #log: Logger;

  constructor(log: Logger = silentLog) {
    this.#log = log;
  }

  /** The log at level debug names a `part` now that it has started, and again when it has stopped. */
  defer(release: () => void | Promise<void>, part?: string): void {
    if (part === undefined) {
      this.#releases.push(release);
      return;
    }
    this.#log.debug(`started: ${part}`);
    this.#releases.push(async () => {
      await release();
      this.#log.debug(`stopped: ${part}`);
    });
  }

  /** Disposes `resource` with the rest and returns it. */
  use<R extends AsyncDisposable | Disposable>(resource: R, part?: string): R {
    this.defer(async () => {
      if (Symbol.asyncDispose in resource) await resource[Symbol.asyncDispose]();
      else resource[Symbol.dispose]();
    }, part);
    return resource;
  }

  /** Hands the releases over to a new owner; disposing this one then does nothing. */
  move(): Releases {
    const owner = new Releases(this.#log);
    owner.#releases = this.#releases;
    this.#releases = [];
    return owner;
  }

  /** @throws AggregateError with what the releases threw, after all of them have run */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) {
      try {
        await release();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "Not everything could be released");
  }
}
