import type { OutboundMessage } from "../../bus/messages.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, OwnChannelContext, Publish, Receipt } from "../channel.js";
import type { OpenSocket, SocketLimits } from "../wire/socket.js";
import { openWebhook } from "../wire/webhook.js";
import { Account, type AccountOptions } from "./account.js";
import { forRun } from "./feishu-error.js";
import { Memory } from "./memory.js";
import { Places } from "./places.js";
import { listenToConnection } from "./receiving/connection.js";
import { Receiving, type ReceivingSpans } from "./receiving/receiving.js";
import { takeEvents } from "./receiving/webhook.js";
import { Sender } from "./send.js";
import { feishuShape } from "./shape.js";

export interface FeishuOptions extends AccountOptions {
  readonly encryptKey?: string | undefined;
  readonly verificationToken?: string | undefined;
  /** Feishu brings messages instead of being connected to. */
  readonly webhook?: { readonly listenAddr?: string | undefined; readonly path?: string | undefined } | undefined;
  readonly spans?: Partial<ReceivingSpans> | undefined;
  /** Between two questions whether the login still counts, while there is no connection. Default 300,000. */
  readonly askMs?: number | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
  readonly now?: (() => number) | undefined;
  readonly log: Logger;
}

const name = "feishu";
/** Feishu takes five changes of a message in a second. */
const liveEditMs = 1000;
/** A ping is answered once in a minute. */
const longestSilenceMs = 200_000;
const sendMs = 30_000;
const askMs = 300_000;
const asksInARow = 3;
const askAgainMs = 5000;
const spans: ReceivingSpans = { lookMs: 120_000, graceMs: 30_000 };

/** Feishu and Lark: direct chats, groups and threads of an app with a bot. */
export function createFeishuChannel(options: FeishuOptions, context: OwnChannelContext): Channel {
  return new FeishuChannel(options, context);
}

class FeishuChannel implements Channel {
  readonly name = name;
  readonly liveEditMs = liveEditMs;
  readonly split = feishuShape.split;
  readonly maxButtons = feishuShape.maxButtons;
  readonly files = feishuShape.files;
  readonly maxFileBytes = feishuShape.maxFileBytes;
  readonly longestSilenceMs?: number;
  readonly #options: FeishuOptions;
  readonly #context: OwnChannelContext;
  readonly #account: Account;
  readonly #memory = new Memory();
  readonly #places: Places;
  readonly #sender: Sender;

  constructor(options: FeishuOptions, context: OwnChannelContext) {
    const { webhook, now = Date.now } = options;
    if (webhook === undefined) this.longestSilenceMs = longestSilenceMs;
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options);
    this.#places = new Places(options.appId, context);
    const timeoutMs = context.sendTimeoutMs ?? sendMs;
    const parts = { account: this.#account, places: this.#places, memory: this.#memory };
    this.#sender = new Sender({ ...parts, timeoutMs, now });
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      await this.#listen(publish, onConnected, signal);
    } catch (error) {
      if (!signal.aborted) throw forRun(error);
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    return await this.#sender.send(message, signal);
  }

  async edit(
    { chatId, platformMessageId, content }: Parameters<NonNullable<Channel["edit"]>>[0],
    signal: AbortSignal,
  ): Promise<void> {
    await this.#sender.edit(chatId, platformMessageId, content, signal);
  }

  async find(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    return await this.#sender.find(message, since, signal);
  }

  async #listen(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const { encryptKey, webhook, log } = this.#options;
    const bot = await this.#account.whoAmI(signal);
    await this.#places.open();
    const parts = { account: this.#account, places: this.#places, memory: this.#memory, sender: this.#sender };
    const more = { bot, encryptKey, publish, context: this.#context, log };
    await using receiving = new Receiving({ ...parts, ...more, spans: { ...spans, ...this.#options.spans } }, signal);
    if (webhook === undefined) await this.#connect(receiving, onConnected);
    else await this.#openAddress(webhook, receiving, onConnected);
  }

  async #connect(receiving: Receiving, onAlive: () => void): Promise<void> {
    const { limits, log } = this.#options;
    let open: OpenSocket | undefined;
    const onOpen = (socket: OpenSocket): void => {
      open = socket;
      receiving.catchUp();
    };
    const onPayload = receiving.takePayload.bind(receiving);
    const options = { account: this.#account, onPayload, onOpen, onAlive, limits, log };
    receiving.look(() => open?.renew());
    await listenToConnection(options, receiving.signal);
  }

  async #openAddress(
    { listenAddr, path }: NonNullable<FeishuOptions["webhook"]>,
    receiving: Receiving,
    onAlive: () => void,
  ): Promise<void> {
    const { appId, encryptKey, verificationToken, now, log } = this.#options;
    const onEvent = receiving.takeEvent.bind(receiving);
    const take = takeEvents({ appId, encryptKey, verificationToken, onEvent, now });
    const hook = { name, listenAddr, path, paths: this.#context.webhooks, log };
    await using _webhook = await openWebhook(hook, take);
    onAlive();
    receiving.catchUp();
    receiving.look(() => undefined);
    while (!receiving.signal.aborted) {
      await sleep(this.#options.askMs ?? askMs, receiving.signal);
      await this.#askOften(receiving.signal);
      onAlive();
    }
  }

  /** @throws {ChannelError} what failed last, when none of them works */
  async #askOften(signal: AbortSignal): Promise<void> {
    for (let left = asksInARow - 1; ; left -= 1) {
      try {
        await this.#account.whoAmI(signal);
        return;
      } catch (error) {
        if (left === 0) throw error;
        await sleep(askAgainMs, signal);
      }
    }
  }
}
