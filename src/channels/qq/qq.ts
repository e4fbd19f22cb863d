import type { OutboundMessage } from "../../bus/messages.js";
import type { Logger } from "../../log.js";
import type { Channel, OwnChannelContext, Publish, Receipt } from "../channel.js";
import type { SocketLimits } from "../wire/socket.js";
import { Account, type AccountOptions } from "./account.js";
import { createQuotable, Events } from "./receiving/events.js";
import { AskedRights, listenToGateway } from "./receiving/gateway.js";
import { StreamSession } from "./receiving/session.js";
import { Signatures } from "./receiving/signature.js";
import { listenByWebhook } from "./receiving/webhook.js";
import { Replies } from "./replies.js";
import { Sender } from "./send.js";
import { qqShape } from "./shape.js";

export interface QqOptions extends AccountOptions {
  /** Instead of the gateway that QQ names. */
  readonly wsUrl?: string | undefined;
  /** QQ brings messages instead of being connected to. */
  readonly webhook?: { readonly listenAddr?: string | undefined; readonly path?: string | undefined } | undefined;
  readonly limits?: Partial<SocketLimits> | undefined;
  readonly busyRetryMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly log: Logger;
}

/** A heartbeat comes every 41 s or so. */
const longestSilenceMs = 150_000;
const sendMs = 30_000;

/** QQ's official bots: private chats, groups and guilds. */
export class QqChannel implements Channel {
  readonly name = "qq";
  readonly namesAnswered = true;
  readonly split = qqShape.split;
  readonly maxMessages = qqShape.maxMessages;
  readonly maxButtons = qqShape.maxButtons;
  readonly files = qqShape.files;
  readonly maxFileBytes = qqShape.maxFileBytes;
  readonly longestSilenceMs?: number;
  readonly #options: QqOptions;
  readonly #context: OwnChannelContext;
  readonly #account: Account;
  readonly #replies: Replies;
  readonly #sender: Sender;
  readonly #session: StreamSession;
  readonly #rights = new AskedRights();
  readonly #quotable = createQuotable();

  constructor(options: QqOptions, context: OwnChannelContext) {
    const { log, webhook, now } = options;
    const { records, sendTimeoutMs: timeoutMs = sendMs } = context;
    if (webhook === undefined) this.longestSilenceMs = longestSilenceMs;
    this.#options = options;
    this.#context = context;
    this.#account = new Account(options);
    this.#replies = new Replies(records, now);
    this.#sender = new Sender({ account: this.#account, replies: this.#replies, timeoutMs, log });
    this.#session = new StreamSession(records, log);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      await this.#replies.prune();
      await this.#listen(publish, onConnected, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#session.written();
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const { id, quotedAs } = await this.#sender.send(message, signal);
    if (quotedAs !== undefined) this.#quotable.set(quotedAs, "assistant");
    return { platformMessageId: id };
  }

  async #listen(publish: Publish, onAlive: () => void, signal: AbortSignal): Promise<void> {
    const { webhook, wsUrl, limits, busyRetryMs, log } = this.#options;
    const account = this.#account;
    const parts = { account, replies: this.#replies, sender: this.#sender, quotable: this.#quotable };
    await using events = new Events({ ...parts, publish, context: this.#context, busyRetryMs, log }, signal);
    const onEvent = events.take.bind(events);
    if (webhook !== undefined) {
      events.botId = (await account.whoAmI(signal)).id;
      return await this.#takeWebhooks(webhook, { onEvent, onAlive }, signal);
    }
    this.#session.restore();
    const onReady = (botId: string | undefined): void => {
      events.botId = botId;
    };
    const session = this.#session;
    await listenToGateway({ account, session, wsUrl, onEvent, onReady, onAlive, limits, log }, this.#rights, signal);
  }

  async #takeWebhooks(
    { listenAddr, path }: NonNullable<QqOptions["webhook"]>,
    on: { readonly onEvent: Events["take"]; readonly onAlive: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const { appId, appSecret, now, log } = this.#options;
    const options = { name: "qq", listenAddr, path, paths: this.#context.webhooks, log };
    await listenByWebhook({ appId, signatures: new Signatures(appSecret), ...on, options, now }, signal);
  }
}
