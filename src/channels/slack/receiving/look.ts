import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { IntakeMemory } from "../../intake/memory.js";
import type { SlackApi } from "../api.js";
import { type Where, whereOf } from "../message.js";
import { keyOf, type Places, toMs } from "../places.js";
import { isLoginLost } from "../slack-error.js";
import { readAfter } from "./history.js";
import type { Intake } from "./intake.js";

export interface LookOptions {
  readonly api: SlackApi;
  readonly places: Places;
  readonly intake: Intake;
  readonly memory: IntakeMemory;
  /** So old a message must be that nobody has told about. */
  readonly graceMs: number;
  readonly log: Logger;
}

/** The liveliest places are looked at each time, the others in turn. */
const liveliest = 5;
const inTurn = 5;

/**
 * Compares what has come over the socket with what is in history: Slack has connections that look well, answer each ping
 * and bring no events for hours.
 */
export class Look {
  readonly #options: LookOptions;
  #turn = 0;

  constructor(options: LookOptions) {
    this.#options = options;
  }

  /**
   * Places in which somebody has said something to the bot that no event has told about.
   *
   * @throws {ChannelError} the token is not good any more
   */
  async findUnheard(conversations: readonly string[], signal: AbortSignal): Promise<readonly Where[]> {
    const unheard: Where[] = [];
    for (const where of this.#choose(conversations)) {
      if (signal.aborted) break;
      if (await this.#hasUnheard(where, signal)) unheard.push(where);
    }
    return unheard;
  }

  #choose(conversations: readonly string[]): readonly Where[] {
    const known = this.#options.places.newestFirst();
    const first = known.slice(0, liveliest);
    const taken = new Set(first.map(keyOf));
    const others = [...known, ...conversations.map((channel) => ({ channel }))].filter((one) => {
      const isNew = !taken.has(keyOf(one));
      taken.add(keyOf(one));
      return isNew;
    });
    const at = others.length === 0 ? 0 : this.#turn % others.length;
    this.#turn = at + inTurn;
    return [...first, ...[...others, ...others].slice(at, at + Math.min(inTurn, others.length))];
  }

  async #hasUnheard(where: Where, signal: AbortSignal): Promise<boolean> {
    const { api, places, intake, memory, graceMs, log } = this.#options;
    try {
      const messages = await readAfter(api, where, await places.position(where), signal);
      const before = Date.now() - graceMs;
      return messages.some(
        (message) =>
          toMs(message.ts) < before &&
          keyOf(whereOf(where.channel, message)) === keyOf(where) &&
          !memory.wasHeard(`${where.channel}:${message.ts}`) &&
          intake.isForUs(message, where.channel),
      );
    } catch (error) {
      if (isLoginLost(error)) throw error;
      if (!signal.aborted) log.debug("a place on Slack cannot be looked at", { ...where, error: messageOf(error) });
      return false;
    }
  }
}
