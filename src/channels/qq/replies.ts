import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ChannelRecords } from "../channel.js";
import { mostReplies, type Place, placeOf, replyMinutes } from "./places.js";

/** A message that can be answered, and which of our messages answer it: each has its number, and keeps it in a repeat. */
const answerable = z.object({
  id: z.string(),
  /** Unix ms. */
  at: z.number(),
  last: z.number(),
  given: z.record(z.string(), z.number()),
  isClosed: z.boolean().optional(),
});

const chatState = z.object({
  /** Of private messages in a guild. */
  guildId: z.string().optional(),
  messages: z.array(answerable),
  /** Something could not be said here, and the person does not know. */
  owesWord: z.boolean().optional(),
});

type Answerable = z.output<typeof answerable>;
type ChatState = z.output<typeof chatState>;

/** By which QQ knows a reply again. */
export interface Slot {
  readonly messageId: string;
  readonly seq: number;
  /** An earlier attempt had the same: it may have been shown. */
  readonly isRepeat: boolean;
}

/** What was received, as far as an answer needs it. */
export interface Heard {
  readonly chatId: string;
  readonly messageId: string;
  /** Unix ms. */
  readonly at: number;
  readonly guildId?: string | undefined;
}

const mostChats = 2000;
const mostMessages = 8;
const recordPrefix = "chat:";

/**
 * Which message each of ours answers, and as its how many-th reply. It is durable before a reply leaves: the same reply
 * has the same number also after a crash, and QQ does not show it twice. Only chats of people who are listened to are kept.
 */
export class Replies {
  readonly #records: ChannelRecords | undefined;
  readonly #chats = new LRUCache<string, ChatState>({ max: mostChats });
  readonly #kept = new LRUCache<string, true>({ max: mostChats });
  readonly #now: () => number;

  constructor(records: ChannelRecords | undefined, now: () => number = Date.now) {
    this.#records = records;
    this.#now = now;
  }

  /** A message has come. What follows from it is in memory until {@link keep}. */
  hear({ chatId, messageId, at, guildId }: Heard): void {
    const state = this.#state(chatId);
    if (guildId !== undefined) state.guildId = guildId;
    if (state.messages.some(({ id }) => id === messageId)) return;
    state.messages.push({ id: messageId, at: Math.min(at, this.#now()), last: 0, given: {} });
    state.messages.splice(0, Math.max(0, state.messages.length - mostMessages));
  }

  /** The message was taken: how to answer it is durable once this resolves. */
  async keep(chatId: string): Promise<void> {
    this.#kept.set(chatId, true);
    await this.#write(chatId);
  }

  placeOf(chatId: string): Place {
    return placeOf(chatId, this.#state(chatId).guildId);
  }

  /**
   * The place for one of our messages: the one that it had before, else with the message that it names, else with the
   * newest that can still be answered. Undefined: there is none.
   */
  async slotFor(chatId: string, ownId: string, answers: string | undefined): Promise<Slot | undefined> {
    const { messages } = this.#state(chatId);
    for (const { id, given, isClosed } of messages) {
      const seq = given[ownId];
      if (seq !== undefined && isClosed !== true) return { messageId: id, seq, isRepeat: true };
    }
    const found = this.#choose(chatId, answers);
    if (found === undefined) return undefined;
    found.last += 1;
    found.given[ownId] = found.last;
    if (this.#kept.has(chatId)) await this.#write(chatId);
    return { messageId: found.id, seq: found.last, isRepeat: false };
  }

  /** It was refused, and does not count. Its number is not used again. */
  async free(chatId: string, ownId: string): Promise<void> {
    for (const { given } of this.#state(chatId).messages) delete given[ownId];
    if (this.#kept.has(chatId)) await this.#write(chatId);
  }

  /** QQ takes no more replies to this message. */
  async close(chatId: string, messageId: string): Promise<void> {
    const found = this.#state(chatId).messages.find(({ id }) => id === messageId);
    if (found === undefined) return;
    found.isClosed = true;
    if (this.#kept.has(chatId)) await this.#write(chatId);
  }

  owesWord(chatId: string): boolean {
    return this.#state(chatId).owesWord === true;
  }

  async setOwesWord(chatId: string, owesWord: boolean): Promise<void> {
    const state = this.#state(chatId);
    if ((state.owesWord === true) === owesWord) return;
    state.owesWord = owesWord || undefined;
    await this.keep(chatId);
  }

  /** Forgets chats that nothing depends on any more, for the start. */
  async prune(): Promise<void> {
    const isOld = ({ at }: Answerable): boolean => this.#now() - at > 2 * 3_600_000;
    for (const { id, value } of this.#records?.list() ?? []) {
      if (!id.startsWith(recordPrefix)) continue;
      const state = chatState.safeParse(value).data;
      const isNeeded = state?.guildId !== undefined || state?.owesWord === true;
      if (state === undefined || (!isNeeded && state.messages.every(isOld))) await this.#records?.delete(id);
    }
  }

  #choose(chatId: string, answers: string | undefined): Answerable | undefined {
    const { messages } = this.#state(chatId);
    const place = this.placeOf(chatId);
    const open = messages.filter(
      ({ given, isClosed }) => isClosed !== true && Object.keys(given).length < mostReplies(place),
    );
    const newestFirst = open.toReversed();
    const isFresh = ({ at }: Answerable): boolean => this.#now() - at < replyMinutes(place) * 60_000;
    const named = newestFirst.find(({ id }) => id === answers);
    // Our clock may be wrong: QQ decides about one that seems too old.
    return [...(named === undefined ? [] : [named]), ...newestFirst].find(isFresh) ?? newestFirst[0];
  }

  #state(chatId: string): ChatState {
    const known = this.#chats.get(chatId);
    if (known !== undefined) return known;
    const stored = chatState.safeParse(this.#records?.get(recordPrefix + chatId)).data;
    if (stored !== undefined) this.#kept.set(chatId, true);
    const state = stored ?? { messages: [] };
    this.#chats.set(chatId, state);
    return state;
  }

  async #write(chatId: string): Promise<void> {
    await this.#records?.put(recordPrefix + chatId, structuredClone(this.#state(chatId)));
  }
}
