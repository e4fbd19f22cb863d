import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelContext, ReceivedFile, ReceivedMessage } from "../../channel.js";
import type { Inbox } from "../../intake/inbox.js";
import type { Account, Bot } from "../account.js";
import type { FeishuFile } from "../content.js";
import { FeishuRefusal } from "../feishu-error.js";
import type { Memory } from "../memory.js";
import { type FeishuMessage, mentionsBot, type Where, whereOf } from "../message.js";
import { keyOf, type Places } from "../places.js";
import { type Original, toReceived } from "../received.js";
import { readAfter, readMessage } from "./history.js";

export interface IntakeOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly places: Places;
  readonly memory: Memory;
  readonly inbox: Inbox;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  readonly log: Logger;
}

/** What comes when so many wait is not taken, and not confirmed: Feishu brings it again. */
const mostTaking = 1000;

/**
 * Passes on what is said, in order for each place. What was missed in a place is read from its history before anything newer
 * of it is passed on.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #signal: AbortSignal;
  readonly #lanes = new InOrder<string>();
  /** Messages that are passed on and not settled, each with whether it came to that. */
  readonly #underWay = new Map<string, Promise<boolean>>();
  /** How many of them each place has. */
  readonly #waiting = new Map<string, number>();
  #taking = 0;
  /** Places of which the log has said that their history cannot be read. */
  readonly #told = new Set<string>();
  /** Places that have been read up to now since the connection was opened. */
  #upToDate = new Set<string>();

  constructor(options: IntakeOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Resolves with true once it is settled and may be confirmed. Never rejects. */
  async take(message: FeishuMessage): Promise<boolean> {
    if (this.#taking >= mostTaking) return false;
    this.#taking += 1;
    try {
      return await this.#takeInOrder(message);
    } finally {
      this.#taking -= 1;
    }
  }

  async #takeInOrder(message: FeishuMessage): Promise<boolean> {
    const where = whereOf(message);
    this.#options.memory.hear(message.id);
    const begun = await this.#inLane(where, async () => {
      await this.#catchUpOnce(where);
      // Not waited for in here: what acts at once overtakes it.
      return { done: await this.#begin(message) };
    });
    return (await begun?.done()) ?? false;
  }

  /** Takes back what a person has deleted, as far as it is known who had written it. Never rejects. */
  async takeBack(id: string): Promise<boolean> {
    const { memory, inbox } = this.#options;
    const author = memory.authorOf(id);
    if (author === undefined) {
      memory.noteTakenBack(id);
      return true;
    }
    const dedupId = `${author.dedupId}:deleted`;
    const gone = { ...author, addressed: true, content: "", change: "deleted", platformMessageId: id } as const;
    return (await inbox.take({ ...gone, dedupId })) !== undefined;
  }

  /** A new connection: places are to be read again from where they were heard last. */
  beginAgain(): void {
    this.#upToDate = new Set();
  }

  /** Places whose history could not be read since the connection was opened. */
  get behind(): readonly Where[] {
    return this.#options.places.newestFirst().filter((where) => !this.#upToDate.has(keyOf(where)));
  }

  /** Reads what has come in a place since it was heard last. Never rejects. */
  async catchUp(where: Where): Promise<void> {
    await this.#inLane(where, () => this.#catchUpOnce(where));
  }

  /** Places in which somebody has said something to the bot, before `before` (Unix ms), that no event has told about. */
  async findUnheard(places: readonly Where[], before: number): Promise<readonly Where[]> {
    const unheard: Where[] = [];
    for (const where of places) {
      if (this.#signal.aborted) break;
      const messages = await this.#missedIn(where);
      const { memory } = this.#options;
      const isUnheard = (message: FeishuMessage): boolean =>
        message.at < before && !memory.wasHeard(message.id) && !memory.isSettled(message.id) && this.#isForUs(message);
      if (messages?.some(isUnheard) === true) unheard.push(where);
    }
    for (const where of unheard) this.#upToDate.delete(keyOf(where));
    return unheard;
  }

  /** Resolves when nothing is under way any more; for after the abort. */
  async settled(): Promise<void> {
    await this.#lanes.settled();
    await Promise.all(this.#underWay.values());
  }

  async #inLane<T>(where: Where, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#lanes.run(async () => (this.#signal.aborted ? undefined : await work()), keyOf(where));
    } catch (error) {
      if (!this.#signal.aborted) this.#options.log.error("something on Feishu could not be handled", { error });
      return undefined;
    }
  }

  async #catchUpOnce(where: Where): Promise<void> {
    const key = keyOf(where);
    if (this.#upToDate.has(key)) return;
    this.#upToDate.add(key);
    const missed = await this.#missedIn(where);
    if (missed === undefined) this.#upToDate.delete(key);
    for (const message of missed ?? []) {
      // What opens a thread is in the history of its group.
      if (!this.#signal.aborted) await this.#begin(message);
    }
  }

  /** Undefined: it cannot be read now. Empty also where the bot may not look. */
  async #missedIn(where: Where): Promise<readonly FeishuMessage[] | undefined> {
    const { account, places, log } = this.#options;
    const place = places.find(where);
    if (place === undefined) return [];
    try {
      return await readAfter(account, place, await places.position(where), this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return undefined;
      const text = `what was missed on Feishu cannot be read: ${messageOf(error)}`;
      if (this.#told.has(keyOf(where))) log.debug(text, { ...where });
      else log.warn(text, { ...where });
      this.#told.add(keyOf(where));
      // Without the right to look nothing can be missed: what comes is all there is.
      const isLasting = error instanceof FeishuRefusal && (error.isOwnersMatter || !error.retryable);
      return isLasting ? [] : undefined;
    }
  }

  /** Passes it on, and gives what resolves with whether it is settled. */
  async #begin(message: FeishuMessage): Promise<() => Promise<boolean>> {
    const { memory, places } = this.#options;
    const { id, at } = message;
    const known = this.#underWay.get(id);
    if (known !== undefined) return () => known;
    if (memory.isSettled(id)) return async () => true;
    const where = whereOf(message);
    const key = keyOf(where);
    if (memory.wasTakenBack(id) || !this.#isForUs(message)) {
      if (this.#isAllSettled(key)) places.drop(where, at);
      memory.settle(id);
      return async () => true;
    }
    const received = await this.#read(message);
    memory.noteAuthor(id, authorOf(received));
    const overtakes = this.#waiting.has(key) && this.#options.actsAtOnce?.(received) === true;
    const done = this.#pass(received, message, this.#upToDate.has(key) && !overtakes).finally(() => {
      this.#underWay.delete(id);
      const left = (this.#waiting.get(key) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(key);
      else this.#waiting.set(key, left);
    });
    this.#underWay.set(id, done);
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
    return () => done;
  }

  /** Nothing of this place waits, and nothing of it is unread: the position may move. */
  #isAllSettled(key: string): boolean {
    return this.#upToDate.has(key) && !this.#waiting.has(key);
  }

  /** `moves`: with it everything of its place up to it is settled. */
  async #pass(received: ReceivedMessage, message: FeishuMessage, moves: boolean): Promise<boolean> {
    const { places, inbox, memory, log } = this.#options;
    const where = whereOf(message);
    try {
      const isNew = await places.know(where, message);
      const value = String(Math.max(message.at, await places.position(where)));
      const cursor = moves ? { cursor: { name: places.cursorName(where), value } } : {};
      const taken = await inbox.take({ ...received, ...cursor });
      if (taken === undefined) return false;
      memory.settle(message.id);
      if (moves && taken === "accepted") places.take(where, message.at);
      else if (moves) places.drop(where, message.at);
      // Of who may not talk nothing is kept.
      if (taken === "refused" && isNew) await places.forget(where);
      return true;
    } catch (error) {
      log.error("a message of Feishu could not be kept", { id: message.id, error });
      return false;
    }
  }

  /**
   * The bot is meant: in a direct chat, by a mention, or by an answer to it, or in a thread where it was called, when nobody
   * else is.
   */
  #isForUs(message: FeishuMessage): boolean {
    const { bot, memory, places } = this.#options;
    if (!message.isOfPerson) return false;
    if (message.isDirect || mentionsBot(message, bot.openId)) return true;
    if (message.mentions.length > 0) return false;
    const answersUs = message.parent !== undefined && memory.ownText(message.parent) !== undefined;
    return answersUs || (message.threadId !== undefined && places.find(whereOf(message)) !== undefined);
  }

  async #read(message: FeishuMessage): Promise<ReceivedMessage> {
    const { account, bot } = this.#options;
    const original = message.parent === undefined ? undefined : await this.#originalOf(message, message.parent);
    const toFile = (file: FeishuFile, messageId: string): ReceivedFile => ({
      ...{ filename: file.filename, mimeType: file.mimeType, isVoice: file.isVoice },
      read: (maxBytes, signal) => {
        const path = `/im/v1/messages/${encodeURIComponent(messageId)}/resources/${encodeURIComponent(file.key)}`;
        return account.download(path, file.kind, maxBytes, signal);
      },
    });
    return toReceived(message, { appId: account.appId, botId: bot.openId, toFile, original });
  }

  async #originalOf(message: FeishuMessage, parent: string): Promise<Original | undefined> {
    const { account, memory, log } = this.#options;
    const ownText = memory.ownText(parent);
    if (ownText !== undefined) return { message: { ...message, id: parent, senderId: account.appId }, ownText };
    // In a thread each message answers the first one, which the conversation has once it is known.
    if (message.threadId !== undefined && this.#options.places.find(whereOf(message)) !== undefined) return undefined;
    try {
      const found = await readMessage(account, parent, message.isDirect, this.#signal);
      return found === undefined ? undefined : { message: found, ownText: undefined };
    } catch (error) {
      if (!this.#signal.aborted)
        log.debug("a quoted message on Feishu cannot be read", { parent, error: messageOf(error) });
      return undefined;
    }
  }
}

function authorOf({ chatId, thread, chatType, senderId, dedupId }: ReceivedMessage) {
  return { chatId, chatType, senderId, dedupId, ...(thread === undefined ? {} : { thread }) };
}
