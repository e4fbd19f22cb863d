import { EngineError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { type LinkedAbort, linked } from "../../util/linked.js";
import { sleep } from "../../util/sleep.js";
import type { Publish, PublishOutcome, ReceivedMessage } from "../channel.js";

/** An update that Telegram handed out and that is not confirmed to it yet. */
interface Entry {
  readonly id: number;
  readonly poll: number;
  /** May be confirmed: it is durable, refused, or nothing for us. */
  isDone: boolean;
  /** It is still being put together, or waits for one before it: what follows in its chat must not overtake it. */
  isHeld: boolean;
  /** Settles when it is done, or when the intake gives up because of an abort. */
  settled: Promise<void>;
}

export interface IntakeOptions {
  readonly publish: Publish;
  /** Name of the durable position that moves with each message. */
  readonly cursorName: string;
  readonly startOffset: number | undefined;
  /** Says something to the person outside the outbound queue; must not throw. */
  readonly tell: (message: ReceivedMessage, text: string) => void;
  readonly actsAtOnce: ((content: string) => boolean) | undefined;
  readonly busyRetryMs: number;
  readonly log: Logger;
}

/** A message that fails to be published this often, by a fault and not for want of room, is given up and told. */
const mostFaults = 5;

/**
 * Passes updates on, and knows up to where they may be confirmed: to the last one before which all are done. Chats do
 * not wait for each other. Within a chat the order is kept: what came with one poll is passed on at once in order,
 * and what comes later waits while an earlier message of the chat is not taken yet. What acts at once waits for nothing.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #closing: LinkedAbort;
  /** In the order of arrival; done ones stay while an earlier one is not. */
  readonly #entries = new Map<number, Entry>();
  readonly #latest = new Map<string, Entry>();
  readonly #toldBusy = new Set<string>();
  #next: number | undefined;
  #polls = 0;

  constructor(options: IntakeOptions, signal: AbortSignal) {
    this.#options = options;
    this.#closing = linked(signal);
    this.#next = options.startOffset;
  }

  /** Begins a poll: what it confirms is everything below this, which is forgotten here too. */
  beginPoll(): number | undefined {
    this.#polls += 1;
    const offset = this.#offset();
    for (const id of this.#entries.keys()) {
      if (id === offset) break;
      this.#entries.delete(id);
    }
    return offset;
  }

  #offset(): number | undefined {
    for (const entry of this.#entries.values()) if (!entry.isDone) return entry.id;
    return this.#next;
  }

  has(updateId: number): boolean {
    return this.#entries.has(updateId);
  }

  /** Resolves with whether the update may be confirmed by now: it is done, or `limitMs` have passed. */
  async isDoneWithin(updateId: number, limitMs: number): Promise<boolean> {
    const entry = this.#entries.get(updateId);
    if (entry === undefined) return true;
    if (!entry.isDone) await this.#within(entry.settled, limitMs);
    return entry.isDone;
  }

  /** Takes in an update that holds nothing for us: there is nothing to do but to confirm it. */
  skip(updateId: number): void {
    this.#add(updateId).isDone = true;
  }

  /** Takes a message of this chat in. One that is put together first keeps its place; if that rejects, it stays undone. */
  take(updateId: number, chatId: string, message: ReceivedMessage | Promise<ReceivedMessage>): void {
    const entry = this.#add(updateId);
    if (!(message instanceof Promise) && this.#options.actsAtOnce?.(message.content) === true) {
      entry.settled = this.#pass(entry, message, undefined);
      return;
    }
    const before = this.#latest.get(chatId);
    this.#latest.set(chatId, entry);
    entry.settled = this.#passWhole(entry, message, before).then(() => {
      if (this.#latest.get(chatId) === entry) this.#latest.delete(chatId);
    });
  }

  /** Takes in an update that is a part of the message of an earlier one: it is done when that one is. */
  join(updateId: number, leadId: number): void {
    const entry = this.#add(updateId);
    const lead = this.#entries.get(leadId);
    entry.settled = (lead?.settled ?? Promise.resolve()).then(() => {
      entry.isDone = lead?.isDone ?? true;
    });
  }

  /** Takes in an update that is no message: it is done once `work`, which never rejects, has ended. */
  takeWork(updateId: number, work: () => Promise<void>): void {
    const entry = this.#add(updateId);
    entry.settled = work().then(() => {
      entry.isDone = true;
    });
  }

  #add(updateId: number): Entry {
    const entry: Entry = {
      id: updateId,
      poll: this.#polls,
      isDone: false,
      isHeld: false,
      settled: Promise.resolve(),
    };
    this.#entries.set(updateId, entry);
    this.#next = updateId + 1;
    return entry;
  }

  async #passWhole(
    entry: Entry,
    message: ReceivedMessage | Promise<ReceivedMessage>,
    before: Entry | undefined,
  ): Promise<void> {
    if (!(message instanceof Promise)) return await this.#pass(entry, message, before);
    entry.isHeld = true;
    const whole = await message.catch(() => undefined);
    if (whole !== undefined) await this.#pass(entry, whole, before);
  }

  /** Resolves when all updates are settled, or after `limitMs`. */
  async settledWithin(limitMs: number): Promise<void> {
    const open = [...this.#entries.values()].filter((entry) => !entry.isDone);
    if (open.length > 0) await this.#within(Promise.all(open.map((entry) => entry.settled)), limitMs);
  }

  async #within(settled: Promise<unknown>, limitMs: number): Promise<void> {
    if (this.#closing.signal.aborted) return;
    using scope = linked(this.#closing.signal, limitMs);
    const limit = new Promise<void>((resolve) => scope.signal.addEventListener("abort", () => resolve()));
    await Promise.race([settled, limit]);
  }

  /**
   * Resolves when no publish is under way any more, with the offset to go on from. Retries are given up. What is not taken
   * after `limitMs` comes again, and is known by its id.
   */
  async close(limitMs?: number): Promise<number | undefined> {
    this.#closing.abort();
    this.#closing[Symbol.dispose]();
    using limit = linked(new AbortController().signal, limitMs);
    const tooLong = new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
    await Promise.race([tooLong, Promise.all([...this.#entries.values()].map((entry) => entry.settled))]);
    return this.#offset();
  }

  async #pass(entry: Entry, message: ReceivedMessage, before: Entry | undefined): Promise<void> {
    const waits = before !== undefined && (before.isHeld || before.poll !== entry.poll);
    entry.isHeld ||= waits;
    if (waits && !(await isTaken(before))) return;
    for (let faults = 0; ; ) {
      const outcome = await this.#publish(entry, message);
      if (outcome === undefined) {
        faults += 1;
        if (faults === mostFaults)
          this.#options.tell(message, "Sorry, this message could not be taken. Please send it again.");
        if (faults === mostFaults) break;
      } else if (outcome.status !== "busy") {
        if (outcome.status === "refused" && outcome.reply !== undefined) this.#options.tell(message, outcome.reply);
        break;
      } else {
        this.#tellBusy(message, outcome.reply);
      }
      if (before !== undefined && !(await isTaken(before))) return;
      try {
        await sleep(this.#options.busyRetryMs, this.#closing.signal);
      } catch {
        return;
      }
    }
    entry.isDone = true;
    this.#toldBusy.delete(message.chatId);
  }

  /** The outcome; undefined for a fault that trying again may not cure. */
  async #publish(entry: Entry, message: ReceivedMessage): Promise<PublishOutcome | undefined> {
    const { publish, cursorName: name, log } = this.#options;
    try {
      return await publish({ ...message, cursor: { name, value: String(this.#positionFor(entry)) } });
    } catch (error) {
      log.error("a Telegram message could not be passed on", { updateId: entry.id, error });
      return error instanceof EngineError ? { status: "busy", reply: "" } : undefined;
    }
  }

  /** After a restart polling goes on from here, so that it may not lie beyond an update that is not taken yet. */
  #positionFor(entry: Entry): number {
    const offset = this.#offset();
    return offset === undefined || offset === entry.id ? entry.id + 1 : offset;
  }

  #tellBusy(message: ReceivedMessage, reply: string): void {
    if (reply === "" || this.#toldBusy.has(message.chatId)) return;
    this.#toldBusy.add(message.chatId);
    this.#options.tell(message, reply);
  }
}

/** Waits for an update to settle; false when it was left behind by an abort, so that later ones must not overtake it. */
async function isTaken(entry: Entry): Promise<boolean> {
  await entry.settled;
  return entry.isDone;
}
