import { z } from "zod";
import type { Records } from "../engine/engine.js";
import { messageOf } from "../errors.js";
import type { Logger } from "../log.js";
import { parseCounterId } from "./counters.js";

/** The kind of the engine's records that say which turns the nodes have let in. */
export const sharedTurnsKind = "turns";

/** So many are known by their message: a turn that a node has let in and lost is begun again by another one. */
const mostKnown = 200;

interface LetIn {
  readonly turns: number;
  /** Messages, the newest last. */
  readonly newest: readonly string[];
}

/**
 * The turns that all nodes on one engine have let in, by counter: of turns that begin at the same moment at several nodes no
 * more are let in than a limit allows. The counters alone show a turn only when it has begun.
 */
export class SharedTurns {
  readonly #records: Records;
  readonly #log: Logger;

  constructor(records: Records, log: Logger) {
    this.#records = records;
    this.#log = log;
  }

  /**
   * False where the limit leaves no room. A message that was let in stays so.
   *
   * @param counted what the counter shows by now: it may have begun before there was a limit
   * @throws {EngineError} `persistence`, `closed`
   */
  async letIn(id: string, messageId: string, limit: number, counted: number): Promise<boolean> {
    let isIn = false;
    await this.#records.update(id, (value) => {
      const { turns, newest } = readLetIn(value);
      const before = Math.max(turns, counted);
      const isKnown = newest.includes(messageId);
      isIn = isKnown || before < limit;
      if (isKnown || !isIn) return value;
      return { turns: before + 1, newest: [...newest, messageId].slice(-mostKnown) };
    });
    return isIn;
  }

  /** The message was let in, and no turn has begun with it. */
  giveBack(ids: readonly string[], messageId: string): void {
    const change = (value: unknown): unknown => {
      const { turns, newest } = readLetIn(value);
      if (!newest.includes(messageId)) return value;
      return { turns: turns - 1, newest: newest.filter((known) => known !== messageId) };
    };
    Promise.all(ids.map((id) => this.#records.update(id, change))).catch((error: unknown) => {
      this.#log.warn(`A turn that did not begin goes on counting for the budgets of today: ${messageOf(error)}`);
    });
  }

  /** Removes those of days before this one. */
  async prune(oldest: string): Promise<void> {
    const old = this.#records.list().filter(({ id }) => (parseCounterId(id)?.day ?? "") < oldest);
    await Promise.all(old.map(({ id }) => this.#records.delete(id)));
  }
}

const letIn = z.object({ turns: z.number(), newest: z.array(z.string()) });

function readLetIn(value: unknown): LetIn {
  return letIn.safeParse(value).data ?? { turns: 0, newest: [] };
}
