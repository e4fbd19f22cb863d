import { LRUCache } from "lru-cache";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { Channel, ChannelContext, Publish, Receipt } from "../channel.js";
import { Account, callMs } from "./account.js";
import type { CommandText } from "./commands.js";
import { listenToGateway, type StreamPosition } from "./connection.js";
import { callError } from "./discord-error.js";
import { IntakeMemory } from "./intake.js";
import { Receiving } from "./receiving.js";
import { editMessage, findMessage, sendMessage } from "./send.js";
import { discordShape } from "./shape.js";

export interface DiscordOptions {
  /** The bot's token, as the developer portal shows it. */
  readonly token: string;
  /** Default `https://discord.com/api`. */
  readonly apiRoot?: string | undefined;
  /** Offered as slash commands. */
  readonly commands?: readonly CommandText[] | undefined;
  /** How long a lost connection may take to come back before it counts as lost. Default 15,000. */
  readonly reconnectMs?: number | undefined;
  readonly identifyGapMs?: number | undefined;
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/** Discord takes five edits in five seconds. */
const liveEditMs = 1200;
/** Discord shows the sign for 10 seconds. */
const typingIntervalMs = 8000;
/** A heartbeat comes every 41 s. */
const longestSilenceMs = 120_000;
const mostReceipts = 500;

/** Discord by its gateway, with history for what the gateway has not told. */
export function createDiscordChannel(options: DiscordOptions, context: ChannelContext): Channel {
  return new DiscordChannel(options, context);
}

class DiscordChannel implements Channel {
  readonly name = "discord";
  readonly typingIntervalMs = typingIntervalMs;
  readonly liveEditMs = liveEditMs;
  readonly longestSilenceMs = longestSilenceMs;
  readonly files = discordShape.files;
  readonly maxFileBytes = discordShape.maxFileBytes;
  readonly maxButtons = discordShape.maxButtons;
  readonly split = discordShape.split;
  readonly #options: DiscordOptions;
  readonly #context: ChannelContext;
  readonly #account: Account;
  readonly #position: StreamPosition = { session: undefined, identifiedAt: 0 };
  readonly #memory = new IntakeMemory();
  readonly #receipts = new LRUCache<string, true>({ max: mostReceipts });

  constructor(options: DiscordOptions, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options, context);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      await this.#listen(publish, onConnected, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #listen(publish: Publish, onAlive: () => void, signal: AbortSignal): Promise<void> {
    const { token, commands, reconnectMs = 15_000, identifyGapMs = 5500, busyRetryMs = 1000, log } = this.#options;
    const rest = await this.#account.rest();
    const bot = await this.#account.identify(signal);
    const parts = { account: this.#account, bot, rest, memory: this.#memory, publish, context: this.#context };
    await using receiving = new Receiving({ ...parts, commands, busyRetryMs, log }, signal);
    const onEvent = receiving.take.bind(receiving);
    const timing = { reconnectMs, identifyGapMs };
    await listenToGateway(
      { token, rest: rest.client, position: this.#position, onEvent, onAlive, ...timing, log },
      signal,
    );
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const ms = message.attachments.length === 0 ? this.#sendMs : this.#sendMs * 4;
    const id = await this.#account.inChannelOf(message, signal, (rest, channelId) =>
      sendMessage(rest, channelId, message, ms, signal),
    );
    return this.#receiptOf(id, message.thread);
  }

  async find(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    const { id: botId } = await this.#account.identify(signal);
    const about = { botId, since, known: (id: string) => this.#receipts.has(id) };
    const id = await this.#account.inChannelOf(message, signal, (rest, channelId) =>
      findMessage(rest, channelId, message, about, this.#sendMs, signal),
    );
    return id === undefined ? undefined : this.#receiptOf(id, message.thread);
  }

  async edit(
    { chatId, platformMessageId, content }: Parameters<NonNullable<Channel["edit"]>>[0],
    signal: AbortSignal,
  ): Promise<void> {
    const [id = "", thread] = platformMessageId.split("@");
    await this.#account.inChannelOf({ chatId, thread }, signal, (rest, channelId) =>
      editMessage(rest, channelId, id, content, this.#sendMs, signal),
    );
  }

  async showTyping(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void> {
    await this.#account.inChannelOf({ chatId, thread }, signal, (rest, channelId) =>
      rest.call({ method: "POST", path: `/channels/${channelId}/typing` }, callMs, signal, callError),
    );
  }

  get #sendMs(): number {
    return this.#context.sendTimeoutMs ?? 30_000;
  }

  /** In a thread the id says where: an edit is told only the chat. */
  #receiptOf(id: string, thread: string | undefined): Receipt {
    this.#receipts.set(id, true);
    return { platformMessageId: thread === undefined ? id : `${id}@${thread}` };
  }
}
