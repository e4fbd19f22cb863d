import { LRUCache } from "lru-cache";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { newId } from "../../util/ids.js";
import type { Channel, OwnChannelContext, Publish, Receipt, ReceivedMessage } from "../channel.js";
import { readPublicFile } from "../wire/public-file.js";
import { Account, type AccountOptions, type Link } from "./account.js";
import { bareOf } from "./jid.js";
import { ns } from "./namespaces.js";
import { Receiving } from "./receiving/receiving.js";
import { findInArchive, idOf, messageTo, sendCorrection, sendLink, sendText, type Target, toBody } from "./send.js";
import { xmppShape } from "./shape.js";
import { xml } from "./stream/xml.js";
import { Typing } from "./typing.js";
import { Uploads } from "./upload.js";

export interface XmppOptions extends AccountOptions {
  readonly allowFrom: readonly string[];
  readonly busyRetryMs?: number | undefined;
  readonly roomMs?: number | undefined;
  readonly pageSize?: number | undefined;
}

/** Each growing step is a message of its own for the server and for programs that know no corrections. */
const liveEditMs = 3000;
const typingIntervalMs = 20_000;
const longestSilenceMs = 180_000;
const fileMs = 300_000;
const mostOwn = 4000;
/** The server's clock and ours may differ. */
const clockSlackMs = 120_000;

/** XMPP: people and rooms, with the server's archive as the truth of what was said. */
export class XmppChannel implements Channel {
  readonly name = "xmpp";
  readonly split = xmppShape.split;
  readonly files = xmppShape.files;
  readonly maxFileBytes = xmppShape.maxFileBytes;
  readonly liveEditMs = liveEditMs;
  readonly typingIntervalMs = typingIntervalMs;
  readonly longestSilenceMs = longestSilenceMs;
  readonly ownId: string;
  readonly #options: XmppOptions;
  readonly #context: OwnChannelContext;
  readonly #account: Account;
  readonly #uploads = new Uploads();
  readonly #typing = new Typing(typingIntervalMs * 2);
  /** Ids of messages that are ours. */
  readonly #own = new LRUCache<string, true>({ max: mostOwn });

  constructor(options: XmppOptions, context: OwnChannelContext) {
    this.#options = options;
    this.#context = context;
    this.ownId = bareOf(options.login.jid);
    this.#account = new Account(options, context);
  }

  async run(publish: Publish, onConnected: () => void, signal: AbortSignal): Promise<void> {
    try {
      const link = await this.#account.link(signal);
      const { allowFrom, busyRetryMs, roomMs, pageSize, log } = this.#options;
      const reading = {
        isOurs: (id: string) => this.#own.has(id),
        isUpload: (url: string) => this.#uploads.isUpload(url),
        read: (url: string) => (maxBytes: number, fileSignal: AbortSignal) =>
          this.#read(link, url, maxBytes, fileSignal),
      };
      const tell = (message: ReceivedMessage, text: string): Promise<void> => this.#tell(link, message, text, signal);
      const parts = { link, publish, context: this.#context, allowFrom, reading, tell };
      await using receiving = new Receiving({ ...parts, busyRetryMs, roomMs, pageSize, log }, signal);
      await receiving.run(onConnected);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#typing.forget();
    }
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    const link = await this.#link(signal);
    const target = await this.#targetOf(link, message.chatId, signal);
    const sending = { ms: this.#sendMs, signal };
    const [file] = message.attachments;
    this.#own.set(idOf(message), true);
    this.#typing.end(message.chatId);
    if (file === undefined)
      return { platformMessageId: await said(link, target, sendText(link.session, target, message, sending)) };
    const url = await this.#uploads.put(link.session, file, this.#sendMs * 4, signal);
    return { platformMessageId: await said(link, target, sendLink(link.session, target, { message, url }, sending)) };
  }

  async find(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    const link = await this.#link(signal);
    const { chatId } = message;
    const id = idOf(message);
    const start = since - clockSlackMs;
    const isRoom = link.rooms.isRoom(chatId);
    const hasArchive = isRoom ? (await link.rooms.join(chatId, signal)).hasArchive : await link.hasArchive(signal);
    // Nobody could say; then it is sent once more.
    if (!hasArchive) return undefined;
    const where = isRoom ? { archive: chatId } : { archive: link.session.account, with: chatId };
    const found = await findInArchive(link.archives, { ...where, id, start }, signal);
    return found === undefined ? undefined : { platformMessageId: found };
  }

  async edit(
    { chatId, platformMessageId, content }: Parameters<NonNullable<Channel["edit"]>>[0],
    signal: AbortSignal,
  ): Promise<void> {
    const link = await this.#link(signal);
    const target = await this.#targetOf(link, chatId, signal);
    const sending = { ms: this.#sendMs, signal };
    await said(link, target, sendCorrection(link.session, target, { of: platformMessageId, content }, sending));
  }

  async showTyping(chatId: string, _thread: string | undefined, signal: AbortSignal): Promise<void> {
    const { session, rooms } = await this.#link(signal);
    if (!rooms.isRoom(chatId)) this.#typing.show(session, chatId);
  }

  get #sendMs(): number {
    return this.#context.sendTimeoutMs ?? 30_000;
  }

  /** Nothing has been sent when there is no connection. */
  async #link(signal: AbortSignal): Promise<Link> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    try {
      return await this.#account.link(signal);
    } catch (cause) {
      if (cause instanceof ChannelError) throw cause;
      throw new ChannelError("It was given up before the XMPP server was reached.", { cause, retryable: true });
    }
  }

  /** Of a room the bot has to be in. @throws {ChannelError} */
  async #targetOf({ rooms }: Link, chatId: string, signal: AbortSignal): Promise<Target> {
    if (!rooms.isRoom(chatId)) return { chatId, isRoom: false };
    const closed = rooms.whyClosed(chatId);
    if (closed !== undefined) throw closed;
    await rooms.join(chatId, signal);
    return { chatId, isRoom: true, onOut: () => rooms.leave(chatId) };
  }

  async #tell(link: Link, { chatId, chatType }: ReceivedMessage, text: string, signal: AbortSignal): Promise<void> {
    const id = newId("mc");
    const target = { chatId, isRoom: chatType === "group" };
    const message = messageTo(target, id, xml("body", ns.client, {}, toBody(text)));
    await link.session.deliver(message, target.isRoom, this.#sendMs, signal);
  }

  async #read(link: Link, url: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
    if (!this.#uploads.isUpload(url)) await this.#uploads.learn(link.session, signal);
    const trusted = this.#uploads.origins;
    return await readPublicFile({ title: "XMPP", url, maxBytes, timeoutMs: fileMs, trusted }, signal);
  }
}

/** A room that has just thrown the bot out says so before it refuses what was on its way: that is why. @throws {ChannelError} */
async function said<T>({ rooms }: Link, { chatId }: Target, sent: Promise<T>): Promise<T> {
  try {
    return await sent;
  } catch (error) {
    const isRefused = error instanceof ChannelError && error.outcome === "refused";
    throw (isRefused ? rooms.whyClosed(chatId) : undefined) ?? error;
  }
}
