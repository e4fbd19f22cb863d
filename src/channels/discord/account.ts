import { LRUCache } from "lru-cache";
import { z } from "zod";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import type { ChannelContext } from "../channel.js";
import { type DiscordRest, openRest, type RestOptions } from "./api.js";
import { KnownChats } from "./chats.js";
import { callError, isUnknownChannel, sendError } from "./discord-error.js";

/** The bot itself, and the chats that it is in. */
export interface Bot {
  readonly id: string;
  readonly chats: KnownChats;
}

/** Where a message belongs: `thread` says the channel by itself; `chatId` may name a person alone. */
interface Target {
  readonly chatId: string;
  readonly thread?: string | undefined;
}

export const callMs = 15_000;
const threadTypes: ReadonlySet<number> = new Set([10, 11, 12]);
const mostParents = 1000;

const identity = z.looseObject({ id: z.string() });
const channelInfo = z.looseObject({ type: z.number(), parent_id: z.string().nullish() });

/** The bot's account at Discord: its API, who it is, and in which channel a chat takes place. Outlives a run. */
export class Account {
  readonly #options: RestOptions & { readonly log: Logger };
  readonly #context: ChannelContext;
  readonly #parents = new LRUCache<string, { readonly id: string | undefined }>({ max: mostParents });
  #rest: Promise<DiscordRest> | undefined;
  #bot: Bot | undefined;

  constructor(options: RestOptions & { readonly log: Logger }, context: ChannelContext) {
    this.#options = options;
    this.#context = context;
  }

  rest(): Promise<DiscordRest> {
    this.#rest ??= openRest(this.#options);
    return this.#rest;
  }

  async identify(signal: AbortSignal): Promise<Bot> {
    if (this.#bot !== undefined) return this.#bot;
    const { id } = identity.parse(await this.#get("/users/@me", signal));
    // Another call may have been faster: what it has noted of the chats stays.
    this.#bot ??= { id, chats: new KnownChats(id, this.#context.records, this.#context.cursor) };
    return this.#bot;
  }

  /** The channel below which this one is a thread; undefined when it is none. @throws {ChannelError} */
  async parentOf(channelId: string, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#parents.get(channelId);
    if (known !== undefined) return known.id;
    let parent: string | undefined;
    try {
      const { type, parent_id: above } = channelInfo.parse(await this.#get(`/channels/${channelId}`, signal));
      parent = threadTypes.has(type) ? (above ?? undefined) : undefined;
    } catch (error) {
      if (error instanceof ChannelError && error.retryable) throw error;
      this.#options.log.warn("a Discord channel cannot be looked at", { channelId, error: messageOf(error) });
    }
    this.#parents.set(channelId, { id: parent });
    return parent;
  }

  /** Does it in the channel of this chat, which is asked for where only the person is known. */
  async inChannelOf<T>(
    { chatId, thread }: Target,
    signal: AbortSignal,
    work: (rest: DiscordRest, channelId: string) => Promise<T>,
  ): Promise<T> {
    const rest = await this.rest();
    const { chats } = await this.identify(signal);
    const direct = thread === undefined ? chats.directOf(chatId) : undefined;
    try {
      return await work(rest, thread ?? direct ?? chatId);
    } catch (error) {
      if (!isUnknownChannel(error) || thread !== undefined || direct !== undefined) throw error;
      const call = { method: "POST", path: "/users/@me/channels", body: { recipient_id: chatId } } as const;
      const { id } = identity.parse(await rest.call(call, callMs, signal, sendError));
      chats.noteDirect(chatId, id);
      return await work(rest, id);
    }
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    return await (await this.rest()).call({ method: "GET", path }, callMs, signal, callError);
  }
}
