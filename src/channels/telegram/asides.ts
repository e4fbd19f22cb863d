import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { Background } from "../../util/async/background.js";
import { sleep } from "../../util/async/sleep.js";
import type { PressOutcome, ReceivedMessage } from "../channel.js";
import { type Account, shortCallMs } from "./account.js";
import { sendMarkdown } from "./send.js";

export interface MenuCommand {
  readonly command: string;
  readonly description: string;
}

/** Telegram's limit for what is told about a press. */
const longestToast = 200;
/** A notice that Telegram asks to send later is tried so often. */
const noticeTries = 3;

/** What is said outside the outbound queue, for which nobody waits but the end: best effort. */
export class Asides {
  readonly #account: Account;
  readonly #log: Logger;
  readonly #background: Background;

  constructor(account: Account, log: Logger) {
    this.#account = account;
    this.#log = log;
    this.#background = new Background((error) => log.error("something could not be sent on Telegram", { error }));
  }

  /** Answers a message. */
  tell(message: ReceivedMessage, text: string, signal: AbortSignal): void {
    this.#background.own(this.#tell(message, text, signal));
  }

  async #tell(message: ReceivedMessage, content: string, signal: AbortSignal): Promise<void> {
    const { chatId, thread, platformMessageId: replyTo } = message;
    const notice = { chatId, thread, replyTo, content };
    for (let tries = 1; ; tries++) {
      try {
        return void (await this.#account.call(shortCallMs, signal, (api, limit) => sendMarkdown(api, notice, limit)));
      } catch (error) {
        if (signal.aborted) return;
        const waitMs = error instanceof ChannelError && tries < noticeTries ? error.retryAfterMs : undefined;
        if (waitMs === undefined)
          return this.#log.warn("a Telegram notice was not sent", { chatId, error: messageOf(error) });
        await sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }

  /** Telegram shows a clock on the button until it is told something. */
  confirmPress(callbackId: string, { text, status }: PressOutcome, signal: AbortSignal): void {
    const answer = { text: text.slice(0, longestToast), show_alert: status !== "taken" };
    const answering = this.#account.call(shortCallMs, signal, (api, limit) =>
      api.answerCallbackQuery(callbackId, answer, limit),
    );
    this.#try(answering, "a press was not confirmed on Telegram", signal);
  }

  showCommands(commands: readonly MenuCommand[], signal: AbortSignal): void {
    const setting = this.#account.call(shortCallMs, signal, (api, limit) =>
      api.setMyCommands([...commands], {}, limit),
    );
    this.#try(setting, "Telegram's command menu was not set", signal);
  }

  #try(work: Promise<unknown>, failure: string, signal: AbortSignal): void {
    const tried = work.catch((error: unknown) => {
      if (!signal.aborted) this.#log.debug(failure, { error: messageOf(error) });
    });
    this.#background.own(tried);
  }

  settled(): Promise<void> {
    return this.#background.settled();
  }
}
