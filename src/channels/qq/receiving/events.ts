import { LRUCache } from "lru-cache";
import type { Quoted } from "../../../bus/messages.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import type { OwnChannelContext, Publish } from "../../channel.js";
import { Inbox } from "../../intake/inbox.js";
import { download } from "../../wire/download.js";
import type { Account } from "../account.js";
import { isMessageEvent, readMessage } from "../message.js";
import type { Replies } from "../replies.js";
import type { Sender } from "../send.js";
import { codeFor, readPress } from "./press.js";

export interface EventsOptions {
  readonly account: Account;
  readonly replies: Replies;
  readonly sender: Sender;
  readonly quotable: Quotable;
  readonly publish: Publish;
  readonly context: OwnChannelContext;
  readonly busyRetryMs?: number | undefined;
  readonly log: Logger;
}

/** Whose the messages are that people may quote; outlives a run. */
export type Quotable = LRUCache<string, Quoted["by"]>;

export function createQuotable(): Quotable {
  return new LRUCache({ max: 2000 });
}

/** What QQ brings, over whichever way. */
export class Events implements AsyncDisposable {
  readonly #options: EventsOptions;
  readonly #signal: AbortSignal;
  readonly #inbox: Inbox;
  readonly #presses: Background;
  /** In guilds, where a mention is a part of the text. */
  botId: string | undefined;

  constructor(options: EventsOptions, signal: AbortSignal) {
    const { publish, context, sender, busyRetryMs, log } = options;
    this.#options = options;
    this.#signal = signal;
    const { actsAtOnce } = context;
    this.#inbox = new Inbox(
      {
        title: "QQ",
        publish,
        actsAtOnce,
        tell: (message, text) => sender.tell(message, text, signal),
        busyRetryMs,
        log,
      },
      signal,
    );
    this.#presses = new Background((error) => log.warn("a press on QQ was not answered", { error }));
  }

  /** True: it is durable, or there is nothing to do about it. False: it must come again. Never rejects. */
  async take({ type, data }: { readonly type: string; readonly data: unknown }): Promise<boolean> {
    const { log } = this.#options;
    try {
      if (isMessageEvent(type)) return await this.#takeMessage(type, data);
      if (type === "INTERACTION_CREATE") this.#takePress(data);
      return true;
    } catch (error) {
      log.error("an event of QQ could not be taken", { type, error });
      return false;
    }
  }

  async #takeMessage(type: string, data: unknown): Promise<boolean> {
    const { account, replies, quotable, log } = this.#options;
    const toFile = (url: string) => (maxBytes: number, signal: AbortSignal) =>
      download("QQ", url, maxBytes, { signal });
    const quotedBy = (shortId: string): Quoted["by"] | undefined => quotable.get(shortId);
    const arrived = readMessage(type, data, account.appId, { botId: this.botId, quotedBy, toFile });
    if (arrived === undefined) {
      log.debug("QQ brought something that is not a message", { type });
      return true;
    }
    const { received, at, guildId, quotedAs } = arrived;
    const { chatId, platformMessageId: messageId = "" } = received;
    if (quotedAs !== undefined) quotable.set(quotedAs, received.chatType === "dm" ? "sender" : "other");
    replies.hear({ chatId, messageId, at, guildId });
    const taken = await this.#inbox.take(received);
    if (taken === undefined) return false;
    if (taken !== "refused") await replies.keep(chatId);
    return true;
  }

  #takePress(data: unknown): void {
    const found = readPress(data);
    if (found !== undefined) this.#presses.own(this.#answer(found));
  }

  async #answer({ id, press }: NonNullable<ReturnType<typeof readPress>>): Promise<void> {
    const { account, context } = this.#options;
    const code = codeFor(await context.press(press));
    const path = `/interactions/${encodeURIComponent(id)}`;
    await account.call({ method: "PUT", path, body: { code }, what: "the answer to a button" }, this.#signal);
  }

  /** Resolves when nothing is under way any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inbox.settled();
    await this.#presses.settled();
  }
}
