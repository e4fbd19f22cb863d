import { stat } from "node:fs/promises";
import type { Logger } from "../../log.js";

/**
 * Asks the file system something small all the time. Node has four threads for files: when each of them waits for one
 * that does not answer (a dead network disk, say), nothing is read or written any more, and nothing else tells about it.
 */
export class DiskProbe implements Disposable {
  readonly #path: string;
  readonly #limitMs: number;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #askedAt: number | undefined;
  #isLogged = false;

  constructor(options: {
    readonly path: string;
    readonly log: Logger;
    /** Default 2000. */
    readonly everyMs?: number;
    /** An answer that takes longer is none. Default 5000. */
    readonly limitMs?: number;
  }) {
    const { path, log, everyMs = 2000, limitMs = 5000 } = options;
    this.#path = path;
    this.#log = log;
    this.#limitMs = limitMs;
    this.#timer = setInterval(() => this.#ask(), everyMs).unref();
  }

  /** One sentence while there is no answer. */
  problem(): string | undefined {
    const isStuck = this.#askedAt !== undefined && performance.now() - this.#askedAt > this.#limitMs;
    return isStuck ? "The file system does not answer: nothing can be read or written." : undefined;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #ask(): void {
    const problem = this.problem();
    if (problem !== undefined && !this.#isLogged) this.#log.error(problem, { path: this.#path });
    this.#isLogged = problem !== undefined;
    if (this.#askedAt !== undefined) return;
    this.#askedAt = performance.now();
    void stat(this.#path)
      // That it is not there is an answer too.
      .catch(() => undefined)
      .then(() => {
        this.#askedAt = undefined;
      });
  }
}
