import type { OutboundMessage } from "../../bus/messages.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import type { Channel, ChannelContext, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { Account, shortCallMs } from "./account.js";
import { Asides, type MenuCommand } from "./asides.js";
import { Albums } from "./receiving/albums.js";
import { Intake } from "./receiving/intake.js";
import { Parking } from "./receiving/parked.js";
import type { TelegramPress } from "./receiving/press.js";
import { Receiving } from "./receiving/receiving.js";
import { runPolling, runWebhook } from "./receiving/sources.js";
import type { WebhookOptions } from "./receiving/webhook.js";
import { editMarkdown, sendFile, sendMarkdown } from "./send.js";
import { telegramShape } from "./shape.js";

export interface TelegramOptions {
  /** The bot's token, as @BotFather shows it. */
  readonly token: string;
  /** Default `https://api.telegram.org`. */
  readonly apiRoot?: string | undefined;
  /** `http://`, `https://` or `socks5://`, with `user:password@` where it is needed. */
  readonly proxy?: string | undefined;
  /** Telegram brings updates to this address, instead of being asked for them. */
  readonly webhook?: WebhookOptions | undefined;
  readonly pollTimeoutSeconds?: number | undefined;
  /** Shown in Telegram's command menu. */
  readonly commands?: readonly MenuCommand[] | undefined;
  /** Waited beyond `pollTimeoutSeconds` before a poll counts as stalled. */
  readonly pollGraceMs?: number | undefined;
  readonly busyRetryMs?: number | undefined;
  /** An update that is not finished after this is parked, so that those behind it are heard. Default 1000. */
  readonly parkAfterMs?: number | undefined;
  readonly log: Logger;
}

/** Telegram shows the sign for 5 seconds. */
const typingIntervalMs = 4500;
/** About what Telegram allows in one chat for long; it says so when it is less. */
const liveEditMs = 1000;
/** A poll and its grace take 45 s at most, a look at the webhook comes every 60 s. */
const longestSilenceMs = 110_000;
/** The parts of an album come within moments of each other. */
const albumMs = 500;
/** After a lost connection a message whose file is slow to come holds up the next one no longer than this. */
const closeMs = 1000;

/**
 * Telegram by long polling or a webhook. An update is confirmed only after it is durable: grammY's own polling confirms earlier,
 * so that the loop is ours.
 */
export function createTelegramChannel(options: TelegramOptions, context: ChannelContext): Channel {
  return new TelegramChannel(options, context);
}

class TelegramChannel implements Channel {
  readonly name = "telegram";
  readonly typingIntervalMs = typingIntervalMs;
  readonly liveEditMs = liveEditMs;
  readonly longestSilenceMs = longestSilenceMs;
  readonly files = telegramShape.files;
  readonly maxFileBytes = telegramShape.maxFileBytes;
  readonly maxButtons = telegramShape.maxButtons;
  readonly split = telegramShape.split;
  readonly #options: TelegramOptions;
  readonly #context: ChannelContext;
  readonly #account: Account;
  readonly #asides: Asides;
  /** Where the last run ended. */
  #offset: number | undefined;

  constructor(options: TelegramOptions, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options);
    this.#asides = new Asides(this.#account, options.log);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    using connected = linked(signal);
    let receiving: Receiving | undefined;
    try {
      receiving = await this.#begin(publish, connected.signal, signal);
      await this.#listen(receiving, onConnected, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      // What is still being put together comes again, whole.
      connected.abort();
      this.#offset = (await receiving?.intake.close(signal.aborted ? undefined : closeMs)) ?? this.#offset;
      if (signal.aborted) await this.#asides.settled();
    }
  }

  async #begin(publish: Publish, connected: AbortSignal, signal: AbortSignal): Promise<Receiving> {
    const { log, busyRetryMs = 1000, parkAfterMs = 1000 } = this.#options;
    const { cursor, records, actsAtOnce } = this.#context;
    const account = this.#account;
    const bot = await account.identify(signal);
    const cursorName = `telegram:${bot.id}:offset`;
    const startOffset = this.#offset ?? parseOffset(await cursor(cursorName));
    const tell = (message: ReceivedMessage, text: string): void => this.#asides.tell(message, text, signal);
    const parking = new Parking(records, bot.id, log);
    const about = { publish, cursorName, startOffset, tell, actsAtOnce, parking, parkAfterMs, busyRetryMs, log };
    const receiving = new Receiving({
      intake: new Intake(about, signal),
      albums: new Albums(albumMs, connected),
      parking,
      bot,
      toFile: (file) => account.toFile(file),
      takePress: (press) => this.#takePress(press, signal),
      log,
    });
    receiving.restore();
    return receiving;
  }

  async #listen(receiving: Receiving, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const { webhook, commands, log, pollTimeoutSeconds = 30, pollGraceMs = 15_000, parkAfterMs = 1000 } = this.#options;
    if (commands !== undefined) this.#asides.showCommands(commands, signal);
    const source = { account: this.#account, receiving, parkAfterMs, onConnected };
    if (webhook === undefined) await runPolling(source, { pollTimeoutSeconds, pollGraceMs }, signal);
    else await runWebhook(source, webhook, log, signal);
  }

  /** Nothing else waits for the word on it. */
  async #takePress({ callbackId, press }: TelegramPress, signal: AbortSignal): Promise<void> {
    const outcome = await this.#context.press?.(press);
    if (outcome !== undefined && !signal.aborted) this.#asides.confirmPress(callbackId, outcome, signal);
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const [file] = message.attachments;
    const ms = file === undefined ? this.#sendMs : this.#sendMs * 4;
    const platformMessageId = await this.#account.show(ms, signal, async (client, limit) =>
      file === undefined ? sendMarkdown(client.api, message, limit) : sendFile(client, { ...message, file }, limit),
    );
    return { platformMessageId };
  }

  async edit(message: Parameters<NonNullable<Channel["edit"]>>[0], signal: AbortSignal): Promise<void> {
    await this.#account.show(this.#sendMs, signal, ({ api }, limit) => editMarkdown(api, message, limit));
  }

  async showTyping(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void> {
    const where = thread === undefined ? {} : { message_thread_id: Number(thread) };
    await this.#account.call(shortCallMs, signal, (api, limit) => api.sendChatAction(chatId, "typing", where, limit));
  }

  get #sendMs(): number {
    return this.#context.sendTimeoutMs ?? 30_000;
  }
}

function parseOffset(cursor: string | undefined): number | undefined {
  const offset = Number(cursor);
  return cursor !== undefined && Number.isSafeInteger(offset) && offset > 0 ? offset : undefined;
}
