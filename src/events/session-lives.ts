import { EngineError, messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { linked } from "../util/async/linked.js";
import { settledWithin } from "../util/async/within.js";
import { isBelow } from "./session-key.js";

/** Something that goes on for a session and may write for it. */
interface Going {
  readonly key: string;
  readonly end: (why: EngineError) => void;
  readonly done: Promise<unknown>;
}

/** For work that nobody else ends. */
const never = new AbortController().signal;

type Leave = (sessionKey: string) => Promise<void>;

/**
 * The one rule that keeps a deleted session deleted: whatever writes for a session runs in here. A deletion first ends what
 * runs for the session and for those below it, and lets nothing new begin until it is through. It waits for a limited time;
 * what does not let go by then finds its signal aborted, for good, and has to write nothing more.
 */
export class SessionLives {
  readonly #log: Logger;
  readonly #going = new Set<Going>();
  /** Sessions that are being deleted. Each resolves once that is over. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #closing = new Map<string, Leave>();
  readonly #leaving = new Map<string, Leave>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Runs work of the session's present life. `signal` aborts with `parent`, and when the session is deleted.
   *
   * @throws {EngineError} `fenced` while the session is being deleted
   */
  async run<T>(key: string, work: (signal: AbortSignal) => Promise<T>, parent: AbortSignal = never): Promise<T> {
    if (this.#endOf(key) !== undefined) throw deleted(key);
    using scope = linked(parent);
    const done = work(scope.signal);
    const going: Going = { key, end: (why) => scope.abort(why), done };
    this.#going.add(going);
    try {
      return await done;
    } finally {
      this.#going.delete(going);
    }
  }

  /** The same for what comes from people: what a deletion has ended is done again for the session's next life. */
  async runOrAgain<T>(key: string, work: (signal: AbortSignal) => Promise<T>, parent: AbortSignal = never): Promise<T> {
    for (;;) {
      await this.free(key);
      try {
        return await this.run(key, work, parent);
      } catch (error) {
        if (!(error instanceof EndedLife) || parent.aborted) throw error;
      }
    }
  }

  /** Resolves once the session is not being deleted. */
  async free(key: string): Promise<void> {
    for (let end = this.#endOf(key); end !== undefined; end = this.#endOf(key)) await end;
  }

  /** `close` ends what its part still does in the folders of a session, which go next. */
  onClose(part: string, close: Leave): void {
    this.#closing.set(part, close);
  }

  /** `leave` takes away what its part keeps of a session that is gone. Nothing begins before it is done. */
  onLeave(part: string, leave: Leave): void {
    this.#leaving.set(part, leave);
  }

  /**
   * Ends what goes on for the session and those below it, and calls `remove` while nothing can begin. `late` is there when
   * something did not let go in time, and resolves once it has.
   */
  async end<T>(key: string, limitMs: number, remove: (late: Promise<unknown> | undefined) => Promise<T>): Promise<T> {
    // At once where it can be: nothing may begin in between.
    while (this.#endOf(key) !== undefined) await this.free(key);
    let open = (): void => {};
    this.#ending.set(
      key,
      new Promise((resolve) => {
        open = resolve;
      }),
    );
    try {
      const going = [...this.#going].filter((each) => isFrom(each.key, key));
      for (const { end } of going) end(deleted(key));
      await settledWithin(Promise.allSettled(going.map(({ done }) => done)), { ms: limitMs });
      const late = going.filter((each) => this.#going.has(each)).map(({ done }) => done);
      return await remove(late.length === 0 ? undefined : Promise.allSettled(late));
    } finally {
      this.#ending.delete(key);
      open();
    }
  }

  /** Resolves also when a part fails, or takes too long. */
  async close(key: string, limitMs: number): Promise<void> {
    await this.#each(this.#closing, key, limitMs);
  }

  /** The same. */
  async leave(key: string, limitMs: number): Promise<void> {
    await this.#each(this.#leaving, key, limitMs);
  }

  async #each(parts: ReadonlyMap<string, Leave>, key: string, limitMs: number): Promise<void> {
    const leaving = [...parts].map(([part, leave]) =>
      leave(key).catch((error: unknown) =>
        this.#log.warn(`${part}: some data of the deleted ${key} is left: ${messageOf(error)}`, { session: key }),
      ),
    );
    await settledWithin(Promise.all(leaving), { ms: limitMs });
  }

  #endOf(key: string): Promise<void> | undefined {
    for (const [ending, end] of this.#ending) if (isFrom(key, ending)) return end;
    return undefined;
  }
}

class EndedLife extends EngineError {}

function deleted(key: string): EngineError {
  return new EndedLife(`The session ${key} is being deleted`, { kind: "fenced" });
}

function isFrom(key: string, root: string): boolean {
  return key === root || isBelow(key, root);
}
