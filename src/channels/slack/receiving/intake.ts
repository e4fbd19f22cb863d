import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { ChannelContext, ReceivedMessage } from "../../channel.js";
import type { Inbox, Taken } from "../../intake/inbox.js";
import type { IntakeMemory } from "../../intake/memory.js";
import { untilAnswered } from "../../wire/until-answered.js";
import type { Account, Bot } from "../account.js";
import { toFile } from "../files.js";
import {
  isAddressed,
  isDirect,
  isOfPerson,
  peopleIn,
  type Reading,
  type SlackMessage,
  toReceived,
  type Where,
  whereOf,
} from "../message.js";
import { keyOf } from "../places.js";
import { codeOf, isTokenTrouble } from "../slack-error.js";
import type { Talk } from "./event.js";
import { readAfter, readRoot } from "./history.js";

export interface IntakeOptions {
  readonly account: Account;
  readonly bot: Bot;
  readonly inbox: Inbox;
  readonly memory: IntakeMemory;
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  readonly log: Logger;
}

/**
 * Passes on what is said, in order for each place; a place whose message is not taken yet holds up only itself. What was
 * missed in a place is read from its history before anything newer of it is passed on.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #signal: AbortSignal;
  readonly #lanes = new InOrder<string>();
  /** Places that have been read up to now since the connection was opened. */
  #upToDate = new Set<string>();
  readonly #reading: Reading;

  constructor(options: IntakeOptions, signal: AbortSignal) {
    const { account, bot } = options;
    this.#options = options;
    this.#signal = signal;
    this.#reading = {
      names: account.names(bot.id),
      account: bot.team,
      toFile: (file) => toFile(account.api, file),
    };
  }

  /** Resolves with true once it is settled and may be confirmed. Never rejects. */
  async take(talk: Talk): Promise<boolean> {
    const { memory } = this.#options;
    const where = whereOf(talk.channel, talk.message);
    const id = idOf(talk.channel, talk.message);
    if (talk.kind === "new") memory.hear(id);
    const atOnce = this.#lanes.isBusy(keyOf(where)) ? this.#atOnceIn(talk, where) : undefined;
    if (atOnce !== undefined && !memory.isSettled(id)) return await this.#passAtOnce(id, atOnce);
    return await this.#inLane(where, async () => {
      await this.#catchUpOnce(where);
      return await this.#handle(talk, where);
    });
  }

  /** A new connection: places are to be read again from where they were heard last. */
  beginAgain(): void {
    this.#upToDate = new Set();
  }

  /**
   * Reads what has come in a place since it was heard last. Resolves once it is read, which is before it is taken; at once
   * where the place is at work, which may be for long. Never rejects.
   */
  async catchUp(where: Where): Promise<void> {
    const isAtWork = this.#lanes.isBusy(keyOf(where));
    const read = new Promise<void>((resolve) => {
      const reading = this.#inLane(where, async () => {
        await this.#catchUpOnce(where, resolve);
        return true;
      });
      void reading.then(() => resolve());
    });
    if (!isAtWork) await read;
  }

  /** The same although it has been read since the connection was opened: its events do not come. */
  async catchUpAgain(where: Where): Promise<void> {
    this.#upToDate.delete(keyOf(where));
    await this.catchUp(where);
  }

  isForUs(message: SlackMessage, channel: string): boolean {
    const { bot } = this.#options;
    const where = whereOf(channel, message);
    return isOfPerson(message, bot.id) && isAddressed(message, channel, bot.id, bot.places.isAsked(where));
  }

  /** Resolves when nothing is under way any more; for after the abort. */
  async settled(): Promise<void> {
    await this.#lanes.settled();
  }

  async #inLane(where: Where, work: () => Promise<boolean>): Promise<boolean> {
    const { log } = this.#options;
    return await this.#lanes
      .run(async () => !this.#signal.aborted && (await work()), keyOf(where))
      .catch((error: unknown) => {
        if (!this.#signal.aborted) log.error("something on Slack could not be handled", { error });
        return false;
      });
  }

  /** A message that waits for nothing that its place has brought earlier; undefined for any other. */
  #atOnceIn({ kind, message, channel }: Talk, where: Where): ReceivedMessage | undefined {
    const { bot, actsAtOnce } = this.#options;
    if (kind !== "new" || !isOfPerson(message, bot.id)) return undefined;
    if (!isAddressed(message, channel, bot.id, bot.places.isAsked(where))) return undefined;
    const received = toReceived(message, channel, this.#reading);
    return received !== undefined && actsAtOnce?.(received) === true ? received : undefined;
  }

  /** The position stays before what is not taken yet: after a restart this one is read again, and known by its id. */
  async #passAtOnce(id: string, received: ReceivedMessage): Promise<boolean> {
    const { inbox, memory } = this.#options;
    const taken = await inbox.take(received);
    if (taken !== undefined) memory.settle(id);
    return taken !== undefined;
  }

  /** False: it could not be taken before the abort. */
  async #handle(talk: Talk, where: Where): Promise<boolean> {
    if (talk.kind !== "new") return await this.#handleChange(talk);
    const { memory, bot } = this.#options;
    const { channel, message } = talk;
    const id = idOf(channel, message);
    if (memory.isSettled(id)) return true;
    const received = this.isForUs(message, channel) ? await this.#read(message, channel, where) : undefined;
    if (received === undefined) {
      bot.places.drop(where, message.ts);
      memory.settle(id);
      return true;
    }
    const taken = await this.#pass(received, message, where);
    if (taken !== undefined) memory.settle(id);
    return taken !== undefined;
  }

  async #pass(received: ReceivedMessage, { ts }: SlackMessage, where: Where): Promise<Taken> {
    const { bot, inbox } = this.#options;
    const { places } = bot;
    const thread = { channel: where.channel, root: ts };
    const isFirst = await places.know(where, justBefore(ts));
    // What is answered below a mention is a conversation of its own.
    const begins = where.root === undefined && !isDirect(where.channel) && (await places.know(thread, ts, true));
    const cursor = { name: places.cursorName(where), value: ts };
    const taken = await inbox.take({ ...received, cursor });
    if (taken === "accepted") places.take(where, ts);
    else if (taken !== undefined) places.drop(where, ts, true);
    if (taken === "refused") {
      if (begins) await places.forget(thread);
      if (isFirst && where.root !== undefined) await places.forget(where);
    }
    return taken;
  }

  async #read(message: SlackMessage, channel: string, where: Where): Promise<ReceivedMessage | undefined> {
    const { account, bot } = this.#options;
    const { root: rootTs } = where;
    const isNew = rootTs !== undefined && !bot.places.isKnown(where);
    const root = isNew ? await this.#rootOf(channel, rootTs) : undefined;
    await account.learn([...peopleIn(message), ...(root === undefined ? [] : peopleIn(root))], this.#signal);
    return toReceived(message, channel, { ...this.#reading, root });
  }

  /** What a thread is about, when the bot is called into it. */
  async #rootOf(channel: string, root: string): Promise<SlackMessage | undefined> {
    const { account, log } = this.#options;
    try {
      return await readRoot(account.api, channel, root, this.#signal);
    } catch (error) {
      if (!this.#signal.aborted)
        log.warn("the beginning of a thread on Slack cannot be read", { channel, error: messageOf(error) });
      return undefined;
    }
  }

  async #handleChange({ channel, kind, message, before }: Talk): Promise<boolean> {
    const { bot, account, inbox } = this.#options;
    if (!isOfPerson(message, bot.id)) return true;
    if (!this.isForUs(message, channel) && !(before !== undefined && this.isForUs(before, channel))) return true;
    await account.learn(peopleIn(message), this.#signal);
    const received = toReceived(message, channel, { ...this.#reading, isChange: true });
    if (received === undefined) return true;
    const isEdit = kind === "edited";
    const change: ReceivedMessage = {
      ...received,
      content: isEdit ? received.content : "",
      change: isEdit ? "edited" : "deleted",
      dedupId: `${received.dedupId}:${isEdit ? `edited:${message.edited?.ts ?? ""}` : "deleted"}`,
    };
    return (await inbox.take(change)) !== undefined;
  }

  /** `onRead`: called when all of it is read, if there is anything to read. */
  async #catchUpOnce(where: Where, onRead?: () => void): Promise<void> {
    const key = keyOf(where);
    if (this.#upToDate.has(key)) return;
    this.#upToDate.add(key);
    const { bot } = this.#options;
    // A thread that nobody has called the bot into has no past for it.
    if (where.root !== undefined && !bot.places.isKnown(where)) return;
    const missed = await this.#missedIn(where, await bot.places.position(where));
    onRead?.();
    for (const message of missed) {
      const at = whereOf(where.channel, message);
      const isElsewhere = keyOf(at) !== key;
      if (!isElsewhere && !(await this.#handle({ channel: where.channel, kind: "new", message }, where))) {
        this.#upToDate.delete(key);
        return;
      }
      // Below it somebody may have called the bot.
      if (isElsewhere || (message.reply_count ?? 0) > 0) this.#readThread(where.channel, at.root ?? message.ts);
    }
  }

  #readThread(channel: string, root: string): void {
    const where = { channel, root };
    void this.#inLane(where, async () => {
      if (this.#upToDate.has(keyOf(where))) return true;
      this.#upToDate.add(keyOf(where));
      const { places } = this.#options.bot;
      const after = places.isKnown(where) ? await places.position(where) : root;
      for (const message of await this.#missedIn(where, after))
        if (!(await this.#handle({ channel, kind: "new", message }, where))) return false;
      return true;
    });
  }

  async #missedIn(where: Where, after: string): Promise<readonly SlackMessage[]> {
    const { account, bot, log } = this.#options;
    try {
      const read = () => readAfter(account.api, where, after, this.#signal);
      return await untilAnswered(read, this.#signal, isTokenTrouble);
    } catch (error) {
      if (this.#signal.aborted) throw error;
      // Or the bot may not look any more, which can change.
      if (codeOf(error) === "thread_not_found") await bot.places.forget(where);
      log.warn("what was missed on Slack cannot be read", { ...where, error: messageOf(error) });
      return [];
    }
  }
}

function idOf(channel: string, { ts }: SlackMessage): string {
  return `${channel}:${ts}`;
}

function justBefore(ts: string): string {
  const [seconds = "", micros = ""] = ts.split(".");
  const before = BigInt(seconds + micros) - 1n;
  const digits = String(before).padStart(16, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
