import { LRUCache } from "lru-cache";
import PQueue from "p-queue";
import { EngineError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { InOrder } from "../../util/async/in-order.js";
import { sleep } from "../../util/async/sleep.js";
import type { ChannelContext, Publish, PublishOutcome, ReceivedMessage } from "../channel.js";
import { untilAnswered } from "../wire/until-answered.js";
import { isNewer, type KnownChats } from "./chats.js";
import { isUnknownChannel } from "./discord-error.js";
import {
  type DiscordMessage,
  discordMessage,
  isAddressed,
  isOfPerson,
  type ToFile,
  toReceived,
  unreadableMessage,
  type Where,
  withOwnName,
} from "./message.js";

export interface IntakeOptions {
  readonly botId: string;
  readonly publish: Publish;
  readonly chats: KnownChats;
  /** What has been heard lately; outlives a run. */
  readonly memory: IntakeMemory;
  /** Up to 100 messages of a channel right after this one, in any order. @throws {ChannelError} */
  readonly fetchAfter: (channelId: string, after: string, signal: AbortSignal) => Promise<readonly unknown[]>;
  /** The channel below which this one is a thread; undefined when it is none. @throws {ChannelError} */
  readonly parentOf: (channelId: string, signal: AbortSignal) => Promise<string | undefined>;
  readonly toFile: ToFile;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  /** Says something to the person outside the outbound queue; must not throw. */
  readonly tell: (channelId: string, replyTo: string | undefined, text: string) => void;
  readonly busyRetryMs: number;
  readonly log: Logger;
}

/** Something that happened in a channel, as the gateway told it. */
export interface ChannelEvent {
  readonly type: "MESSAGE_CREATE" | "MESSAGE_UPDATE" | "MESSAGE_DELETE";
  readonly channelId: string;
  readonly data: unknown;
}

type Author = Pick<ReceivedMessage, "chatId" | "thread" | "chatType" | "senderId" | "senderName" | "addressed">;

/** A message that fails to be published this often, by a fault and not for want of room, is given up and told. */
const mostFaults = 5;
const pageSize = 100;
const fetchesAtOnce = 4;
const remembered = 2000;

/** Messages that were heard lately, and events that could not be taken before a run ended. */
export class IntakeMemory {
  readonly #messages = new LRUCache<string, { readonly author: Author | undefined }>({ max: remembered });
  readonly left: ChannelEvent[] = [];

  has(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  authorOf(messageId: string): Author | undefined {
    return this.#messages.get(messageId)?.author;
  }

  note(messageId: string, author?: Author): void {
    this.#messages.set(messageId, { author });
  }
}

/**
 * Passes on what happens in channels, in order for each; a channel whose message is not taken yet holds up only itself.
 * What was missed is read from history before anything newer of its channel is passed on.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #signal: AbortSignal;
  readonly #lanes = new InOrder<string>();
  /** Channels whose history is still to be read. */
  readonly #behind = new Set<string>();
  readonly #fetches = new PQueue({ concurrency: fetchesAtOnce });

  constructor(options: IntakeOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    for (const event of options.memory.left.splice(0)) this.take(event);
  }

  take(event: ChannelEvent): void {
    const { channelId } = event;
    const atOnce = this.#lanes.isBusy(channelId) ? this.#atOnceIn(event) : undefined;
    const work = async (): Promise<void> => {
      const isHandled = async () =>
        atOnce === undefined ? await this.#handle(event) : await this.#passAtOnce(channelId, atOnce);
      if (this.#signal.aborted || !(await isHandled())) this.#options.memory.left.push(event);
    };
    void (atOnce === undefined ? this.inLane(channelId, work) : this.besideLane(channelId, work));
  }

  /** A message that waits for nothing that its channel has brought earlier; undefined for any other. */
  #atOnceIn({ type, channelId, data }: ChannelEvent): ReceivedMessage | undefined {
    const { botId, chats, toFile, actsAtOnce } = this.#options;
    const message = type === "MESSAGE_CREATE" ? this.#read(data) : undefined;
    if (message === undefined || !isOfPerson(message)) return undefined;
    const isDirect = message.guild_id === undefined;
    const where =
      chats.where(channelId) ?? (isDirect ? { chatId: message.author.id, chatType: "dm" as const } : undefined);
    if (where === undefined || !(isDirect || isAddressed(message, botId))) return undefined;
    const received = toReceived(message, where, botId, toFile);
    return received !== undefined && actsAtOnce?.(received) === true ? received : undefined;
  }

  /** The position stays before what is not taken yet: after a restart this one is read again, and known by its id. */
  async #passAtOnce(channelId: string, received: ReceivedMessage): Promise<boolean> {
    const { memory } = this.#options;
    const { platformMessageId: id = "" } = received;
    if (memory.has(id)) return true;
    if ((await this.#pass(channelId, received)) === undefined) return false;
    const { chatId, thread, chatType, senderId, senderName } = received;
    memory.note(id, { chatId, thread, chatType, senderId, senderName, addressed: true });
    return true;
  }

  /** Reads in every known chat what has come since it was last heard, the liveliest first. */
  catchUp(): void {
    for (const channelId of this.#options.chats.newestFirst()) {
      // What is still to begin will read this as well.
      if (this.#behind.has(channelId)) continue;
      this.#behind.add(channelId);
      void this.inLane(channelId, () => {
        this.#behind.delete(channelId);
        return this.#catchUpIn(channelId);
      });
    }
  }

  /** Does `work` when everything that came before in this channel is settled. Never rejects. */
  inLane(channelId: string, work: () => Promise<void>): Promise<void> {
    return this.#lanes.run(work, channelId).catch((error: unknown) => {
      if (!this.#signal.aborted) this.#options.log.error("something on Discord could not be handled", { error });
    });
  }

  /** Does `work` without waiting for the channel's lane, in order with what else does. Never rejects. */
  besideLane(channelId: string, work: () => Promise<void>): Promise<void> {
    return this.inLane(`${channelId} at once`, work);
  }

  /** Resolves when nothing is under way any more; for after the abort. */
  async settled(): Promise<void> {
    await this.#lanes.settled();
  }

  /** Where a message of this channel belongs. */
  async whereOf(channelId: string, isDirect: boolean, senderId: string): Promise<Where> {
    const known = this.#options.chats.where(channelId);
    if (known !== undefined) return known;
    if (isDirect) return { chatId: senderId, chatType: "dm" };
    const parent = await this.#untilAnswered(() => this.#options.parentOf(channelId, this.#signal));
    return parent === undefined
      ? { chatId: channelId, chatType: "group" }
      : { chatId: parent, thread: channelId, chatType: "group" };
  }

  #read(data: unknown): DiscordMessage | undefined {
    const { botId, chats, log } = this.#options;
    const { data: message, error } = discordMessage.safeParse(data);
    if (message !== undefined) return withOwnName(message, botId, chats.roles);
    const bare = unreadableMessage(data);
    const why = messageOf(error);
    if (bare === undefined) log.debug(`something on Discord is not as documented: ${why}`);
    else log.warn(`a Discord message cannot be read: ${why}`, { messageId: bare.id, type: bare.type });
    return bare === undefined ? undefined : withOwnName(bare, botId, chats.roles);
  }

  /** False: it could not be taken before the abort. */
  async #handle({ type, channelId, data }: ChannelEvent): Promise<boolean> {
    if (type === "MESSAGE_DELETE") return await this.#handleDeleted(data);
    const message = this.#read(data);
    if (message === undefined) return true;
    if (type === "MESSAGE_UPDATE") return await this.#handleEdited(message);
    const isDirect = message.guild_id === undefined;
    return await this.#handleNew(message, channelId, isDirect);
  }

  async #handleNew(message: DiscordMessage, channelId: string, isDirect: boolean): Promise<boolean> {
    const { botId, chats, memory, toFile, log } = this.#options;
    const { id } = message;
    if (memory.has(id)) return true;
    if (!isOfPerson(message) || !(isDirect || isAddressed(message, botId))) {
      chats.drop(channelId, id);
      return true;
    }
    const where = await this.#orAborted(() => this.whereOf(channelId, isDirect, message.author.id));
    if (where === undefined) return false;
    if (where.chatType === "dm") chats.noteDirect(where.chatId, channelId);
    const received = toReceived(message, where, botId, toFile);
    if (received === undefined) {
      log.debug("a Discord message without content was ignored", { messageId: id });
      chats.drop(channelId, id);
      return true;
    }
    const isFirst = await this.#orAborted(() => this.#untilAnswered(() => chats.know(channelId, where, id)));
    if (isFirst === undefined) return false;
    const cursor = { name: chats.cursorName(channelId), value: id };
    const status = await this.#pass(channelId, { ...received, cursor });
    if (status === undefined) return false;
    const { senderId, senderName } = received;
    memory.note(id, { ...where, senderId, senderName, addressed: true });
    if (status === "accepted") chats.take(channelId, id);
    else if (status === "refused" && isFirst) await chats.forget(channelId);
    else chats.drop(channelId, id, true);
    return true;
  }

  /** Discord tells about previews of addresses as if the message had been edited. */
  async #handleEdited(message: DiscordMessage): Promise<boolean> {
    const { botId, memory } = this.#options;
    const { id, edited_timestamp: at, channel_id: channelId } = message;
    if (at === undefined || at === null || !isOfPerson(message)) return true;
    const author = memory.authorOf(id);
    const isDirect = message.guild_id === undefined;
    if (author === undefined && !isDirect && !isAddressed(message, botId)) return true;
    const where = author ?? (await this.#orAborted(() => this.whereOf(channelId, isDirect, message.author.id)));
    if (where === undefined) return false;
    const { chatId, thread, chatType } = where;
    const received = toReceived(message, { chatId, thread, chatType }, botId);
    if (received === undefined) return true;
    const dedupId = `${received.dedupId}:edited:${at}`;
    const edit: ReceivedMessage = { ...received, change: "edited", addressed: true, dedupId };
    return (await this.#pass(channelId, edit)) !== undefined;
  }

  /** Only ids are told about what was deleted: whose it was is known as long as it is remembered. */
  async #handleDeleted(data: unknown): Promise<boolean> {
    const { memory, botId } = this.#options;
    const deleted = deletedMessage(data);
    const author = deleted === undefined ? undefined : memory.authorOf(deleted.id);
    if (deleted === undefined || author === undefined) return true;
    const dedupId = `discord:${botId}:${deleted.id}:deleted`;
    const change = { content: "", platformMessageId: deleted.id, change: "deleted", dedupId } as const;
    return (await this.#pass(deleted.channelId, { ...author, ...change })) !== undefined;
  }

  async #catchUpIn(channelId: string): Promise<void> {
    const { chats, fetchAfter, log } = this.#options;
    const isDirect = chats.where(channelId)?.chatType === "dm";
    let after = await chats.position(channelId);
    for (let isWhole = false; !isWhole && !this.#signal.aborted; ) {
      const from = after;
      let page: readonly unknown[];
      try {
        const fetch = (): Promise<readonly unknown[]> => fetchAfter(channelId, from, this.#signal);
        page = await this.#untilAnswered(async () => (await this.#fetches.add(fetch)) ?? []);
      } catch (error) {
        if (this.#signal.aborted) return;
        // Or the bot may not look any more, which can change.
        if (isUnknownChannel(error)) await chats.forget(channelId);
        log.warn("what was missed in a Discord channel cannot be read", { channelId, error: messageOf(error) });
        return;
      }
      const messages = page.flatMap((one) => this.#read(one) ?? []).sort((a, b) => (isNewer(a.id, b.id) ? 1 : -1));
      for (const message of messages) if (!(await this.#handleNew(message, channelId, isDirect))) return;
      after = messages.at(-1)?.id ?? after;
      isWhole = page.length < pageSize || after === from;
    }
  }

  /** Undefined: the abort came first, and it was not taken. */
  async #pass(channelId: string, message: ReceivedMessage): Promise<PublishOutcome["status"] | undefined> {
    const { tell, busyRetryMs } = this.#options;
    let wasTold = false;
    for (let faults = 0; !this.#signal.aborted; ) {
      const outcome = await this.#publish(message);
      if (outcome === undefined) {
        faults += 1;
        if (faults === mostFaults) {
          tell(channelId, message.platformMessageId, "Sorry, this message could not be taken. Please send it again.");
          return "duplicate";
        }
      } else if (outcome.status !== "busy") {
        if (outcome.status === "refused" && outcome.reply !== undefined)
          tell(channelId, message.platformMessageId, outcome.reply);
        return outcome.status;
      } else {
        if (!wasTold && outcome.reply !== "") tell(channelId, message.platformMessageId, outcome.reply);
        wasTold = true;
      }
      await sleep(busyRetryMs, this.#signal).catch(() => undefined);
    }
    return undefined;
  }

  /** The outcome; undefined for a fault that trying again may not cure. */
  async #publish(message: ReceivedMessage): Promise<PublishOutcome | undefined> {
    try {
      return await this.#options.publish(message);
    } catch (error) {
      this.#options.log.error("a Discord message could not be passed on", { id: message.platformMessageId, error });
      return error instanceof EngineError ? { status: "busy", reply: "" } : undefined;
    }
  }

  #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    return untilAnswered(ask, this.#signal);
  }

  /** Undefined when an abort was the reason for failing. */
  async #orAborted<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (this.#signal.aborted) return undefined;
      throw error;
    }
  }
}

function deletedMessage(data: unknown): { readonly id: string; readonly channelId: string } | undefined {
  if (typeof data !== "object" || data === null || !("id" in data) || !("channel_id" in data)) return undefined;
  return { id: String(data.id), channelId: String(data.channel_id) };
}
