import type { OpenQuestions } from "../agent/questions/open-questions.js";
import type { PublishOutcome } from "../channels/channel.js";
import type { Engine } from "../engine/engine.js";
import type { Logger } from "../log.js";
import type { RateLimiter } from "../policy/rate-limits.js";
import type { Arrival } from "./arrival.js";
import type { ReceivedFiles } from "./received-files.js";
import type { RecentTexts } from "./recent-texts.js";

export interface ScreeningPorts {
  readonly waiting: Engine["waiting"];
  readonly questions: Pick<OpenQuestions, "screen">;
  readonly files: Pick<ReceivedFiles, "refusalOf">;
  readonly rates: RateLimiter;
  readonly recent: RecentTexts;
  readonly log: Logger;
}

const silence: PublishOutcome = { status: "refused" };

/** Keeps out what nobody has to work on, before a file is fetched or a byte is stored. */
export class Screening {
  readonly #ports: ScreeningPorts;

  constructor(ports: ScreeningPorts) {
    this.#ports = ports;
  }

  /** A deletion of what is at work already: there is nothing to do. */
  async isUselessDeletion({ message: { sessionKey, platformMessageId } }: Arrival): Promise<boolean> {
    const waiting = await this.#ports.waiting("inbound", sessionKey);
    return waiting.every(({ attempts, body }) => attempts > 0 || body.platformMessageId !== platformMessageId);
  }

  /** Why a message is not taken; undefined for one that is, which then counts for the rate limits. */
  refusalOf(arrival: Arrival): PublishOutcome | undefined {
    const useless = this.#ofUselessChange(arrival);
    if (useless !== undefined) return useless;
    const refusal = this.#ofWrongAnswer(arrival) ?? this.#ofUnreadable(arrival) ?? this.#ofLargeFiles(arrival);
    // The word on what is refused counts as well: else somebody could have it said as often as they like.
    return this.#ofHaste(arrival) ?? refusal;
  }

  /** The message was not taken after all, and does not count. */
  giveBack({ message: { channel, senderId, chatId }, from }: Arrival): void {
    if (!from.isOwner) this.#ports.rates.giveBack(`${channel}:${senderId}`, `${channel}:${chatId}`);
  }

  /** An edit that reads as before. */
  #ofUselessChange({ message }: Arrival): PublishOutcome | undefined {
    const { change, sessionKey, platformMessageId, content } = message;
    if (change === undefined || change === "deleted") return undefined;
    const isOfUse = content !== "" && !this.#ports.recent.isSame(sessionKey, platformMessageId, content);
    return isOfUse ? undefined : silence;
  }

  /** An answer by somebody who may not give it, or one that the question does not allow. */
  #ofWrongAnswer({ message, from }: Arrival): PublishOutcome | undefined {
    if (message.change === "deleted") return undefined;
    const reply = this.#ports.questions.screen(message.sessionKey, message, from);
    return reply === undefined ? undefined : { status: "refused", reply };
  }

  #ofUnreadable({ message, received: { unreadable } }: Arrival): PublishOutcome | undefined {
    if (unreadable === undefined || message.content !== "") return undefined;
    return this.#ports.recent.isFirst(`${message.sessionKey} ${unreadable}`)
      ? { status: "refused", reply: `I cannot read ${unreadable}. Please tell me in words.` }
      : silence;
  }

  /** Files that are all too large, and no words beside them. */
  #ofLargeFiles({ message, received }: Arrival): PublishOutcome | undefined {
    if (message.content !== "") return undefined;
    const refusals = (received.files ?? []).map((file) => this.#ports.files.refusalOf(file));
    return refusals.length > 0 && refusals.every((refusal) => refusal !== undefined)
      ? { status: "refused", reply: refusals.join("\n") }
      : undefined;
  }

  /** More in a minute than a sender or a chat may send; owners may. */
  #ofHaste({ message: { channel, senderId, chatId }, from }: Arrival): PublishOutcome | undefined {
    const { rates, log } = this.#ports;
    const over = from.isOwner ? undefined : rates.take(`${channel}:${senderId}`, `${channel}:${chatId}`);
    if (over === undefined) return undefined;
    log.warn(`${channel}: too many messages in a minute`, { sender: senderId, chat: chatId });
    return over.isFirst ? { status: "refused", reply: tooFast(over.waitMs) } : silence;
  }
}

function tooFast(waitMs: number): string {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return `That is more than I can take in a minute. Please write again in ${seconds} s. I do not read what you send before that.`;
}
