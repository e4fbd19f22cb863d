import { LRUCache } from "lru-cache";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { Channel, OwnChannelContext, Publish, Receipt } from "../channel.js";
import { IntakeMemory } from "../intake/memory.js";
import { Account } from "./account.js";
import type { SlackApiOptions } from "./api.js";
import { Receiving, type ReceivingSpans } from "./receiving/receiving.js";
import { editMessage, findMessage, postMessage } from "./send.js";
import { slackShape } from "./shape.js";
import { forRun, isTokenTrouble } from "./slack-error.js";
import { uploadFile } from "./upload.js";

export interface SlackOptions extends SlackApiOptions {
  readonly spans?: Partial<ReceivingSpans> | undefined;
  readonly log: Logger;
}

/** Slack takes about 50 edits a minute. */
const liveEditMs = 1500;
/** Slack shows the sign for two minutes. */
const typingIntervalMs = 60_000;
/** The socket asks for a sign of life every 20 s. */
const longestSilenceMs = 120_000;
const mostReceipts = 500;
const spans: ReceivingSpans = { lookMs: 120_000, graceMs: 30_000 };

/** Slack by Socket Mode, with history for what the socket has not brought. */
export function createSlackChannel(options: SlackOptions, context: OwnChannelContext): Channel {
  return new SlackChannel(options, context);
}

class SlackChannel implements Channel {
  readonly name = "slack";
  readonly liveEditMs = liveEditMs;
  readonly typingIntervalMs = typingIntervalMs;
  readonly longestSilenceMs = longestSilenceMs;
  readonly files = slackShape.files;
  readonly maxFileBytes = slackShape.maxFileBytes;
  readonly maxButtons = slackShape.maxButtons;
  readonly split = slackShape.split;
  readonly #options: SlackOptions;
  readonly #context: OwnChannelContext;
  readonly #account: Account;
  readonly #memory = new IntakeMemory();
  /** Ids of messages that are known to be shown. */
  readonly #receipts = new LRUCache<string, true>({ max: mostReceipts });
  #hasStatus = true;

  constructor(options: SlackOptions, context: OwnChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options, context);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      const bot = await this.#account.identify(signal);
      const { log } = this.#options;
      const parts = { account: this.#account, bot, memory: this.#memory, publish, context: this.#context, log };
      await using receiving = new Receiving({ ...parts, spans: { ...spans, ...this.#options.spans } }, signal);
      await receiving.run(onConnected);
    } catch (error) {
      if (!signal.aborted) throw forRun(error);
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const { api } = this.#account;
    const channel = await this.#account.channelOf(message.chatId, signal);
    const [file] = message.attachments;
    if (file !== undefined) {
      const to = { channel, thread: message.thread };
      return { platformMessageId: await uploadFile(api, file, to, this.#sendMs * 4, signal) };
    }
    return this.#receiptOf(await postMessage(api, channel, message, this.#sendMs, signal));
  }

  async find(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    const bot = await this.#account.identify(signal);
    const channel = await this.#account.channelOf(message.chatId, signal);
    const about = { bot, since, isKnown: (ts: string) => this.#receipts.has(ts) };
    const ts = await findMessage(this.#account.api, channel, message, about, signal);
    return ts === undefined ? undefined : this.#receiptOf(ts);
  }

  async edit(
    { chatId, platformMessageId, content }: Parameters<NonNullable<Channel["edit"]>>[0],
    signal: AbortSignal,
  ): Promise<void> {
    const channel = await this.#account.channelOf(chatId, signal);
    await editMessage(this.#account.api, channel, platformMessageId, content, this.#sendMs, signal);
  }

  /** Only in threads: Slack has no such sign for apps anywhere else. */
  async showTyping(chatId: string, thread: string | undefined, signal: AbortSignal): Promise<void> {
    if (thread === undefined || !this.#hasStatus) return;
    const args = { channel_id: chatId, thread_ts: thread, status: "is thinking…" };
    try {
      await this.#account.api.call("assistant.threads.setStatus", args, signal);
    } catch (error) {
      if (isTokenTrouble(error)) this.#hasStatus = false;
      throw error;
    }
  }

  get #sendMs(): number {
    return this.#context.sendTimeoutMs ?? 30_000;
  }

  #receiptOf(ts: string): Receipt {
    this.#receipts.set(ts, true);
    return { platformMessageId: ts };
  }
}
