import type { OutboundMessage } from "../../bus/messages.js";
import type { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { cutText } from "../../util/text/cut-text.js";
import type { Channel, ChannelContext, OwnerToDo, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { toWhatsAppMarkup } from "../formatting/dialects/whatsapp-markup.js";
import { Inbox } from "../intake/inbox.js";
import { type BridgeOptions, listenToBridge, sendByBridge } from "./bridge.js";
import { Echoes } from "./echoes.js";
import type { BridgeFrame, BridgeMessage } from "./frames.js";
import { jidOf, personOf } from "./jid.js";
import { Link } from "./link.js";
import { toReceived } from "./message.js";
import { longestMessage, whatsappShape } from "./shape.js";

export interface WhatsAppOptions extends BridgeOptions {
  /** Chats in which messages from the account itself count. */
  readonly ownChats: ReadonlySet<string>;
  readonly busyRetryMs?: number | undefined;
  /** How long a lost connection may take to come back. Default 60,000. */
  readonly reconnectMs?: number | undefined;
  /** How long the bridge may be without WhatsApp. Default 60,000. */
  readonly lostMs?: number | undefined;
  readonly log: Logger;
}

const noticeMs = 15_000;

/**
 * A personal number, by a bridge that is logged in as one of its devices. The bridge keeps nothing: what comes while
 * nobody listens to it is lost, and nobody can ask for it.
 */
export function createWhatsAppChannel(options: WhatsAppOptions, context: ChannelContext): Channel {
  return new WhatsAppChannel(options, context);
}

class WhatsAppChannel implements Channel {
  readonly name = "whatsapp";
  readonly split = whatsappShape.split;
  readonly #options: WhatsAppOptions;
  readonly #context: ChannelContext;
  readonly #echoes = new Echoes();
  /** Groups and chats of which it was said in the log why they are not listened to. */
  readonly #told = new Set<string>();
  #link: Link | undefined;

  constructor(options: WhatsAppOptions, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    const { reconnectMs = 60_000, lostMs = 60_000, busyRetryMs, log } = this.#options;
    using scope = linked(signal);
    let lost: ChannelError | undefined;
    const link = new Link(lostMs, (error) => {
      lost = error;
      scope.abort();
    });
    this.#link = link;
    const tell = (message: ReceivedMessage, text: string) => this.#tell(message, text, signal);
    const { actsAtOnce } = this.#context;
    const inbox = new Inbox({ title: "WhatsApp", publish, actsAtOnce, tell, busyRetryMs, log }, signal);
    const onAlive = (): void => (link.isConnected ? onConnected() : undefined);
    const onFrame = (frame: BridgeFrame): void => {
      if (frame.type === "message") this.#take(frame, inbox);
      else if (frame.type === "qr") link.noteCode(frame.qr);
      else if (frame.type === "status") {
        link.noteStatus(frame.status);
        onAlive();
      }
    };
    try {
      const hear = { onFrame, onOpen: () => link.begin(), onAlive };
      await listenToBridge(this.#options, { reconnectMs }, hear, scope.signal);
      if (lost !== undefined) throw lost;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      link.end();
      this.#link = undefined;
      await inbox.settled();
    }
  }

  async send({ id, chatId, content }: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const ms = this.#context.sendTimeoutMs ?? 30_000;
    return { platformMessageId: (await this.#send(id, chatId, content, ms, signal)) ?? id };
  }

  toDo(): OwnerToDo | undefined {
    return this.#link?.toDo();
  }

  #take(read: BridgeMessage, inbox: Inbox): void {
    const received = toReceived(read);
    if (received === undefined) {
      if (read.isGroup)
        this.#sayOnce(read.sender, "the bridge does not say who writes in a group, so nobody is heard there");
      return;
    }
    const { chatId } = received;
    if (read.fromMe && !this.#isOwnWord(read, chatId)) return;
    // Nothing can be confirmed to the bridge: it has forgotten the message.
    void inbox.take(received);
  }

  /** True for what the account's owner has written to the assistant, and not to somebody else. */
  #isOwnWord({ content, id, isGroup }: BridgeMessage, chatId: string): boolean {
    if (isGroup || this.#echoes.has(chatId, content, id)) return false;
    if (this.#options.ownChats.has(chatId)) return true;
    this.#sayOnce(
      chatId,
      "your own words in a chat of WhatsApp were left out; to talk to the assistant there, switch allowSelf on and name the chat in allowFrom",
    );
    return false;
  }

  #sayOnce(chat: string, text: string): void {
    if (this.#told.has(chat) || this.#told.size > 1000) return;
    this.#told.add(chat);
    this.#options.log.info(text, { chat: personOf(chat) });
  }

  async #tell({ chatId, platformMessageId = "" }: ReceivedMessage, text: string, signal: AbortSignal): Promise<void> {
    await this.#send(`notice:${platformMessageId}`, chatId, text, noticeMs, signal);
  }

  async #send(
    id: string,
    chatId: string,
    content: string,
    ms: number,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const markup = toWhatsAppMarkup(content);
    const text = cutText(markup.trim() === "" ? content : markup, longestMessage);
    this.#echoes.note(chatId, text);
    const messageId = await sendByBridge(this.#options, { id, to: jidOf(chatId), text }, ms, signal);
    if (messageId !== undefined) this.#echoes.noteId(messageId);
    return messageId;
  }
}
