import { LRUCache } from "lru-cache";
import type { OutboundMessage } from "../../bus/messages.js";
import type { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { linked } from "../../util/async/linked.js";
import { cutText } from "../../util/text/cut-text.js";
import type { Channel, ChannelContext, OwnerToDo, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { toWhatsAppMarkup } from "../formatting/dialects/whatsapp-markup.js";
import { Inbox } from "../intake/inbox.js";
import type { OpenSocket } from "../wire/socket.js";
import { type BridgeOptions, type BridgeSend, findByBridge, listenToBridge, sendByBridge } from "./bridge.js";
import { Echoes } from "./echoes.js";
import { toFile, uploadFile } from "./files.js";
import type { BridgeFrame, BridgeMessage } from "./frames.js";
import { jidOf, personOf } from "./jid.js";
import { KeepingBridge } from "./keeping-bridge.js";
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
const mostMeant = 2000;

/**
 * A personal number, by a bridge that is logged in as one of its devices. Our own bridge keeps what comes until it is
 * confirmed, and knows a send that comes again. That of the Go maxclaw keeps nothing: what comes while nobody listens to it is
 * lost, and nobody can ask for it.
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
  /** Messages in groups that were for the assistant. */
  readonly #meant = new LRUCache<string, true>({ max: mostMeant });
  readonly #keeping: KeepingBridge;
  readonly typingIntervalMs = 8000;
  #link: Link | undefined;

  constructor(options: WhatsAppOptions, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
    this.#keeping = new KeepingBridge(context.records);
  }

  get files(): "apart" | undefined {
    return this.maxFileBytes === undefined ? undefined : "apart";
  }

  get maxFileBytes(): number | undefined {
    return this.#keeping.maxFileBytes;
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
    const onFrame = (frame: BridgeFrame, socket: OpenSocket): void => {
      this.#keeping.note(frame, socket);
      if (frame.type === "message") void this.#take(frame, inbox);
      else if (frame.type === "qr") link.noteCode(frame.qr);
      else if (frame.type === "status") {
        link.noteStatus(frame.status, frame.text, frame.reason);
        onAlive();
      }
    };
    const onOpen = (): void => {
      link.begin();
      this.#keeping.begin();
    };
    try {
      const hear = { onFrame, onOpen, onAlive };
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

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const { id, attachments } = message;
    const ms = this.#context.sendTimeoutMs ?? 30_000;
    const [file] = attachments;
    const sent = this.#toSend(message);
    if (file === undefined) return { platformMessageId: (await this.#send(sent, ms, signal)) ?? id };
    const uploaded = await uploadFile(this.#options, file, ms * 4, signal);
    return { platformMessageId: (await this.#send({ ...sent, file: uploaded }, ms * 4, signal)) ?? id };
  }

  /** Only our own bridge can be asked. */
  async find(message: OutboundMessage, _since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    if (!this.#keeping.isOurs) return undefined;
    const platformMessageId = await findByBridge(this.#options, this.#toSend(message), noticeMs, signal);
    return platformMessageId === undefined ? undefined : { platformMessageId };
  }

  async showTyping(chatId: string): Promise<void> {
    await this.#keeping.say({ type: "typing", to: jidOf(chatId) });
  }

  toDo(): OwnerToDo | undefined {
    return this.#link?.toDo();
  }

  async #take(read: BridgeMessage, inbox: Inbox): Promise<void> {
    const received = toReceived(read, (file, seq) => toFile(this.#options, file, seq));
    if (received === undefined) {
      if (read.isGroup)
        this.#sayOnce(read.sender, "the bridge does not say who writes in a group, so nobody is heard there");
      return await this.#keeping.confirm(read, false);
    }
    const { chatId } = received;
    if (read.fromMe && !this.#isOwnWord(read, chatId)) return await this.#keeping.confirm(read, false);
    // Only our own bridge has it still.
    const taken = await inbox.take(this.#withAddressee(received));
    if (taken !== undefined) await this.#keeping.confirm(read, taken === "accepted");
  }

  /** What a person does in a group to a message that was for the assistant is for it, too. */
  #withAddressee(received: ReceivedMessage): ReceivedMessage {
    const { chatId, chatType, senderId, platformMessageId, change, addressed } = received;
    if (chatType === "dm") return received;
    const key = `${chatId} ${senderId} ${platformMessageId}`;
    if (addressed) this.#meant.set(key, true);
    return change === undefined ? received : { ...received, addressed: addressed || this.#meant.has(key) };
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
    await this.#send(this.#toSend({ id: `notice:${platformMessageId}`, chatId, content: text }), noticeMs, signal);
  }

  #toSend({
    id,
    chatId,
    content,
    replyTo,
    attachments = [],
  }: Pick<OutboundMessage, "id" | "chatId" | "content" | "replyTo"> & Partial<OutboundMessage>): BridgeSend {
    const markup = toWhatsAppMarkup(content);
    const text = cutText(markup.trim() === "" ? content : markup, longestMessage);
    const file = attachments[0] && { name: attachments[0].filename, mimeType: attachments[0].mimeType };
    return { id, to: jidOf(chatId), text, replyTo, ...(file && { file }) };
  }

  async #send(sent: BridgeSend, ms: number, signal: AbortSignal): Promise<string | undefined> {
    if (sent.text !== "") this.#echoes.note(personOf(sent.to), sent.text);
    const messageId = await sendByBridge(this.#options, sent, ms, signal);
    if (messageId !== undefined) this.#echoes.noteId(messageId);
    return messageId;
  }
}
