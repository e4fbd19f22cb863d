import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import type { OwnChannelContext, ReceivedMessage } from "../../channel.js";
import { untilAnswered } from "../../wire/until-answered.js";
import type { Account, Bot } from "../account.js";
import type { Encryption } from "../crypto/encryption.js";
import { answeredBy, type MatrixEvent, threadOf } from "../event.js";
import { isAccountTrouble } from "../matrix-error.js";
import { mentions, mentionsOthers, type Reading, toReceived } from "../message.js";
import { readEvent } from "./history.js";
import type { IntakeMemory } from "./memory.js";

export interface ReaderOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly memory: IntakeMemory;
  readonly encryption: Encryption | undefined;
  readonly commands: OwnChannelContext["commands"];
  readonly log: Logger;
}

/** Reads a message with what it is about: whether it is for the bot, and what it answers. */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #signal: AbortSignal;

  constructor(options: ReaderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Undefined: it is not for the bot, or holds nothing to read. @throws {ChannelError} */
  async read(roomId: string, event: MatrixEvent): Promise<ReceivedMessage | undefined> {
    const { threads } = this.#options.bot;
    const isDirect = await this.#isDirect(roomId);
    const answered = await this.event(roomId, answeredBy(event));
    const root = threadOf(event);
    if (!(await this.#isAddressed(roomId, event, isDirect, answered))) return undefined;
    const isCalledInto = root !== undefined && !isDirect && !threads.has(root);
    const quoted = answered ?? (isCalledInto ? await this.event(roomId, root) : undefined);
    return toReceived(event, { ...this.#reading(roomId, isDirect), quoted });
  }

  /** The same of a text that was changed: without what it answers, and without files. @throws {ChannelError} */
  async readChange(roomId: string, event: MatrixEvent): Promise<ReceivedMessage | undefined> {
    const isDirect = await this.#isDirect(roomId);
    const answered = await this.event(roomId, answeredBy(event));
    if (!(await this.#isAddressed(roomId, event, isDirect, answered))) return undefined;
    return this.toChange(roomId, event, isDirect);
  }

  toChange(roomId: string, event: MatrixEvent, isDirect: boolean): ReceivedMessage | undefined {
    const { files: _files, ...received } = toReceived(event, this.#reading(roomId, isDirect)) ?? {};
    return "chatId" in received ? received : undefined;
  }

  /** An event of this room; undefined: there is none, or it cannot be read. */
  async event(roomId: string, eventId: string | undefined): Promise<MatrixEvent | undefined> {
    const { account, memory, encryption, log } = this.#options;
    if (eventId === undefined) return undefined;
    const known = memory.event(roomId, eventId);
    if (known !== undefined) return known;
    const ask = () => readEvent(account.api, roomId, eventId, this.#signal);
    try {
      const read = await untilAnswered(ask, this.#signal, isAccountTrouble);
      const isSealed = read?.type === "m.room.encrypted";
      const found = isSealed ? await encryption?.decrypt(roomId, read) : read;
      if (found !== undefined) memory.keep(roomId, found);
      return found;
    } catch (error) {
      if (this.#signal.aborted || isAccountTrouble(error)) throw error;
      log.debug("a message on Matrix that another one is about cannot be read", { roomId, error: messageOf(error) });
      return undefined;
    }
  }

  async isDirect(roomId: string): Promise<boolean> {
    return await this.#isDirect(roomId);
  }

  async #isDirect(roomId: string): Promise<boolean> {
    const { account, bot } = this.#options;
    const ask = () => bot.rooms.isDirect(roomId, account.api, this.#signal);
    return await untilAnswered(ask, this.#signal, isAccountTrouble);
  }

  /**
   * In a direct chat everything is; in a room what mentions the bot or answers it, and what is said to nobody else in a
   * thread that began with the bot or into which it was called.
   */
  async #isAddressed(
    roomId: string,
    event: MatrixEvent,
    isDirect: boolean,
    answered: MatrixEvent | undefined,
  ): Promise<boolean> {
    const { bot } = this.#options;
    if (isDirect || mentions(event, bot) || answered?.sender === bot.id) return true;
    const root = threadOf(event);
    if (root === undefined || mentionsOthers(event, bot.id)) return false;
    if (bot.threads.has(root)) return true;
    const first = await this.event(roomId, root);
    return first !== undefined && (first.sender === bot.id || mentions(first, bot));
  }

  #reading(roomId: string, isDirect: boolean): Reading {
    const { bot, account, commands = [] } = this.#options;
    const words = commands.map(({ command }) => command.replace(/^\//, ""));
    return { bot, api: account.api, roomId, isDirect, commands: words };
  }
}
