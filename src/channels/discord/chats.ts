import { z } from "zod";
import type { ChannelContext, ChannelRecords } from "../channel.js";
import type { Where } from "./message.js";

const record = z.object({
  /** Id of a message: everything up to it is settled. */
  after: z.string().regex(/^\d+$/),
  /** A direct chat with this person. */
  user: z.string().optional(),
  /** A thread below this channel. */
  parent: z.string().optional(),
});
type ChatRecord = z.infer<typeof record>;

/** Ids of Discord are numbers that grow with time, too long for a `number`. */
export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}

const rolePrefix = "role:";
/** Written after so many messages that concerned nobody: few enough to be read again after a restart. */
const writeAfter = 20;

/**
 * The channels, threads and direct chats in which the bot has been spoken to, and up to where each was heard. What is
 * accepted moves a durable cursor; what is dropped moves the record, now and then. Durable where the gateway gives records.
 */
export class KnownChats {
  readonly #botId: string;
  readonly #records: ChannelRecords | undefined;
  readonly #cursor: (name: string) => Promise<string | undefined>;
  readonly #chats = new Map<string, ChatRecord>();
  readonly #roles = new Set<string>();
  /** Channels of direct chats, also of people who are not known. */
  readonly #directs = new Map<string, string>();
  /** Dropped messages since the record was written. */
  readonly #unwritten = new Map<string, number>();

  private constructor(
    botId: string,
    records: ChannelRecords | undefined,
    cursor: (name: string) => Promise<string | undefined>,
  ) {
    this.#botId = botId;
    this.#records = records;
    this.#cursor = cursor;
    const prefix = `${botId}:`;
    const roles = this.#key(rolePrefix);
    for (const { id, value } of records?.list() ?? []) {
      if (id.startsWith(roles)) this.#roles.add(id.slice(roles.length));
      const chat = id.startsWith(prefix) ? record.safeParse(value).data : undefined;
      if (chat === undefined) continue;
      const channelId = id.slice(prefix.length);
      this.#chats.set(channelId, chat);
      if (chat.user !== undefined) this.#directs.set(chat.user, channelId);
    }
  }

  /** Reads what is known about this bot's chats. */
  static async open(
    botId: string,
    { records, cursor }: Pick<ChannelContext, "records" | "cursor">,
  ): Promise<KnownChats> {
    const opened = new KnownChats(botId, records, cursor);
    for (const [channelId, chat] of opened.#chats) chat.after = await opened.position(channelId);
    return opened;
  }

  /** Ids of all channels, by where something was heard last. */
  newestFirst(): readonly string[] {
    return [...this.#chats.keys()]
      .map((id) => ({ id, position: BigInt(this.#chats.get(id)?.after ?? "0") }))
      .sort((a, b) => (a.position === b.position ? 0 : a.position > b.position ? -1 : 1))
      .map(({ id }) => id);
  }

  /** The roles that Discord has made for the bot, one in each server. */
  get roles(): ReadonlySet<string> {
    return this.#roles;
  }

  /** History may have to be read before Discord tells about the role again. */
  async noteRole(roleId: string): Promise<void> {
    if (this.#roles.has(roleId)) return;
    this.#roles.add(roleId);
    await this.#records?.put(`${this.#key(rolePrefix)}${roleId}`, {});
  }

  where(channelId: string): Where | undefined {
    const chat = this.#chats.get(channelId);
    if (chat === undefined) return undefined;
    if (chat.user !== undefined) return { chatId: chat.user, chatType: "dm" };
    return chat.parent === undefined
      ? { chatId: channelId, chatType: "group" }
      : { chatId: chat.parent, thread: channelId, chatType: "group" };
  }

  /** The channel of a direct chat with this person, as far as one is known. */
  directOf(userId: string): string | undefined {
    return this.#directs.get(userId);
  }

  noteDirect(userId: string, channelId: string): void {
    this.#directs.set(userId, channelId);
  }

  cursorName(channelId: string): string {
    return `discord:${this.#botId}:${channelId}`;
  }

  /** Everything in this channel up to this message is settled. */
  async position(channelId: string): Promise<string> {
    const cursor = (await this.#cursor(this.cursorName(channelId))) ?? "0";
    const after = this.#chats.get(channelId)?.after ?? "0";
    return /^\d+$/.test(cursor) && isNewer(cursor, after) ? cursor : after;
  }

  /** Keeps a chat before its first message is passed on, so that it is found again whatever comes. True when it is new. */
  async know(channelId: string, where: Where, firstMessageId: string): Promise<boolean> {
    if (this.#chats.has(channelId)) return false;
    const chat: ChatRecord = {
      after: String(BigInt(firstMessageId) - 1n),
      ...(where.chatType === "dm" ? { user: where.chatId } : {}),
      ...(where.thread === undefined ? {} : { parent: where.chatId }),
    };
    await this.#records?.put(this.#key(channelId), chat);
    this.#chats.set(channelId, chat);
    return true;
  }

  async forget(channelId: string): Promise<void> {
    if (!this.#chats.delete(channelId)) return;
    this.#unwritten.delete(channelId);
    await this.#records?.delete(this.#key(channelId));
  }

  /** This message needs nothing more, and no cursor has moved with it. `isFinal`: it must not be taken later. */
  drop(channelId: string, messageId: string, isFinal = false): void {
    const chat = this.#chats.get(channelId);
    if (chat === undefined || !isNewer(messageId, chat.after)) return;
    chat.after = messageId;
    this.#unwritten.set(channelId, (this.#unwritten.get(channelId) ?? 0) + (isFinal ? writeAfter : 1));
  }

  /** This message is durable, and the cursor has moved with it. */
  take(channelId: string, messageId: string): void {
    const chat = this.#chats.get(channelId);
    if (chat !== undefined && isNewer(messageId, chat.after)) chat.after = messageId;
  }

  /** Writes what has moved by much, or `all`. */
  async write(all = false): Promise<void> {
    const due = [...this.#unwritten].filter(([, count]) => all || count >= writeAfter);
    for (const [channelId] of due) this.#unwritten.delete(channelId);
    await Promise.all(
      due.map(async ([channelId]) => {
        const chat = this.#chats.get(channelId);
        if (chat !== undefined) await this.#records?.put(this.#key(channelId), { ...chat });
      }),
    );
  }

  #key(channelId: string): string {
    return `${this.#botId}:${channelId}`;
  }
}
