import { EngineError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { Background } from "../../util/async/background.js";
import { InOrder } from "../../util/async/in-order.js";
import { sleep } from "../../util/async/sleep.js";
import type { ChannelContext, Publish, PublishOutcome, ReceivedMessage } from "../channel.js";

export interface InboxOptions {
  /** For the log, e.g. `Slack`. */
  readonly title: string;
  readonly publish: Publish;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  /** Says something to who wrote the message, outside the outbound queue. What it rejects with is logged. */
  readonly tell: (message: ReceivedMessage, text: string) => Promise<void>;
  /** Between two offers of a message for which there is no room. Default 1000. */
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/** What happened to a message; undefined: the run ended before it was taken, so that it must come again. */
export type Taken = PublishOutcome["status"] | undefined;

/** A message that fails to be published this often, by a fault and not for want of room, is given up and told. */
const mostFaults = 5;
const givenUp = "Sorry, this message could not be taken. Please send it again.";

/**
 * What every channel owes what it receives: the messages of a chat are passed on in order, a chat whose message is not
 * taken yet holds up only itself, what acts at once waits for nothing, what finds no room is offered until it is taken, and
 * who wrote is told what the gateway says to them.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #signal: AbortSignal;
  readonly #chats = new InOrder<string>();
  readonly #asides: Background;

  constructor(options: InboxOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#asides = new Background((error) => options.log.warn(`a notice was not sent on ${options.title}`, { error }));
  }

  /** Resolves once it is durable or settled otherwise: then it may be confirmed to the platform. Never rejects. */
  take(message: ReceivedMessage): Promise<Taken> {
    const { chatId, thread } = message;
    // A thread is a conversation of its own.
    const place = thread === undefined ? chatId : `${chatId} in ${thread}`;
    const isFirst = this.#chats.isBusy(place) && this.#options.actsAtOnce?.(message) === true;
    return this.#chats.run(() => this.#offer(message), isFirst ? `${place} at once` : place);
  }

  /** Does `work` when everything that its chat has brought before is settled. */
  inOrder<T>(chatId: string, work: () => Promise<T>): Promise<T> {
    return this.#chats.run(work, chatId);
  }

  /** Says something to who wrote this message; the end of the run waits for it. */
  tell(message: ReceivedMessage, text: string): void {
    this.#asides.own((async () => await this.#options.tell(message, text))());
  }

  /** Resolves once nothing is under way; for after the abort. */
  async settled(): Promise<void> {
    await this.#chats.settled();
    await this.#asides.settled();
  }

  async #offer(message: ReceivedMessage): Promise<Taken> {
    const { busyRetryMs = 1000 } = this.#options;
    let wasTold = false;
    for (let faults = 0; !this.#signal.aborted; ) {
      const outcome = await this.#publish(message);
      if (outcome === undefined) {
        faults += 1;
        if (faults === mostFaults) {
          this.tell(message, givenUp);
          return "refused";
        }
      } else if (outcome.status !== "busy") {
        if (outcome.status === "refused" && outcome.reply) this.tell(message, outcome.reply);
        return outcome.status;
      } else if (!wasTold) {
        if (outcome.reply !== "") this.tell(message, outcome.reply);
        wasTold = true;
      }
      await sleep(busyRetryMs, this.#signal).catch(() => undefined);
    }
    return undefined;
  }

  /** The outcome; undefined for a fault that trying again may not cure. */
  async #publish(message: ReceivedMessage): Promise<PublishOutcome | undefined> {
    const { publish, title, log } = this.#options;
    try {
      return await publish(message);
    } catch (error) {
      log.error(`a message of ${title} could not be passed on`, { id: message.platformMessageId, error });
      return error instanceof EngineError ? { status: "busy", reply: "" } : undefined;
    }
  }
}
