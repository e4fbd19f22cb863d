import { EngineError } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { type LinkedAbort, linked } from "../../../util/async/linked.js";
import { sleep } from "../../../util/async/sleep.js";
import { settledWithin } from "../../../util/async/within.js";
import type { ChannelContext, Publish, PublishOutcome, ReceivedMessage } from "../../channel.js";
import type { ParkedUpdate, Parking } from "./parked.js";

/** An update as it came: from Telegram, or out of the parking. */
export interface Arrived extends ParkedUpdate {
  readonly isParked?: boolean;
}

/** An update that Telegram handed out and that is not finished yet, or not confirmed to it. */
interface Entry {
  readonly id: number;
  readonly poll: number;
  readonly arrived: Arrived;
  /** Unix ms. */
  readonly arrivedAt: number;
  /** What it says, or the message that it is a part of; undefined until that is whole, and for what is not a message. */
  message: ReceivedMessage | undefined;
  /** Somebody whom we listen to sent it, so that it may be kept. */
  mayBeKept: boolean;
  /** It is durable in the parking, so that it may be confirmed. */
  isParked: boolean;
  /** It is durable, refused, or nothing for us. */
  isDone: boolean;
  /** It is still being put together, or waits for one before it: what follows in its chat must not overtake it. */
  isHeld: boolean;
  /** Settles when all of its parts are there. */
  whole: Promise<void>;
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
  readonly actsAtOnce: ChannelContext["actsAtOnce"];
  readonly parking: Parking;
  readonly parkAfterMs: number;
  readonly busyRetryMs: number;
  readonly log: Logger;
}

/** A message that fails to be published this often, by a fault and not for want of room, is given up and told. */
const mostFaults = 5;

/**
 * Passes updates on, and knows up to where they may be confirmed: to the last one before which all are done or parked.
 * Chats do not wait for each other. Within a chat the order is kept: what came with one poll is passed on at once in
 * order, and what comes later waits while an earlier message of the chat is not taken yet. What acts at once waits for
 * nothing.
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
    for (const { id, isDone, arrived } of this.#entries.values()) {
      if (id === offset) break;
      // The first poll may give what was parked once more.
      const mayComeAgain = arrived.isParked === true && this.#polls === 1;
      if (isDone && !mayComeAgain) this.#entries.delete(id);
    }
    return offset;
  }

  #offset(): number | undefined {
    for (const entry of this.#entries.values()) if (!isSettled(entry)) return entry.id;
    return this.#next;
  }

  /**
   * Makes durable what has not been finished in time, the oldest first: whatever is not parked comes again behind what
   * is. Where there is no room for a message its sender is told that it is left out.
   */
  async park(): Promise<void> {
    for (const entry of this.#entries.values()) {
      if (isSettled(entry)) continue;
      const isDue = entry.arrivedAt <= Date.now() - this.#options.parkAfterMs;
      if (!isDue || this.#closing.signal.aborted || !(await this.#parkOne(entry))) return;
    }
  }

  /** False: it is where it was. */
  async #parkOne(entry: Entry): Promise<boolean> {
    if (!entry.mayBeKept) return false;
    const { update, chatId, after } = entry.arrived;
    const outcome = await this.#options.parking.put({ update, chatId, after });
    if (outcome === "full") return await this.#leaveOut(entry);
    if (outcome === "failed") return false;
    entry.isParked = true;
    // Finished while it was written.
    if (entry.isDone) await this.#options.parking.remove(entry.id);
    return true;
  }

  /** The gateway refuses it for good, so that nothing comes of an attempt that is under way. */
  async #leaveOut(entry: Entry): Promise<boolean> {
    const { message } = entry;
    if (message === undefined) return false;
    const outcome = await this.#publish(entry, { ...message, isLeftOut: true });
    if (outcome === undefined || outcome.status === "busy") return false;
    if (outcome.status === "refused" && outcome.reply !== undefined) this.#options.tell(message, outcome.reply);
    entry.isDone = true;
    return true;
  }

  /** Whether it is known. It is then confirmed with the others, also when Telegram has only now given it again. */
  has(updateId: number): boolean {
    const isKnown = this.#entries.has(updateId);
    if (isKnown) this.#next = Math.max(this.#next ?? 0, updateId + 1);
    return isKnown;
  }

  /** Whether an update that another node has parked is known here: it is out of the parking with the one that is known. */
  isParkedToo(updateId: number): boolean {
    const entry = this.#entries.get(updateId);
    if (entry === undefined) return false;
    entry.isParked = true;
    if (entry.isDone) entry.settled = this.#finish(entry);
    return true;
  }

  /** Resolves with whether the update may be confirmed by now: it is done or parked, or `limitMs` have passed. */
  async isDoneWithin(updateId: number, limitMs: number): Promise<boolean> {
    const entry = this.#entries.get(updateId);
    if (entry === undefined) return true;
    if (!isSettled(entry)) await settledWithin(entry.settled, { ms: limitMs, signal: this.#closing.signal });
    return isSettled(entry);
  }

  /** Takes in an update that holds nothing for us: there is nothing to do but to confirm it. */
  skip(arrived: Arrived): void {
    const entry = this.#add(arrived);
    entry.settled = this.#finish(entry);
  }

  /**
   * Takes a message in. One that is put together first keeps its place; if that rejects, it stays undone. `part` is the
   * first part of such a one.
   */
  take(arrived: Arrived, message: ReceivedMessage | Promise<ReceivedMessage>, part?: ReceivedMessage): void {
    const entry = this.#add(arrived);
    const isWhole = !(message instanceof Promise);
    const isAtOnce = this.#actsAtOnce(isWhole ? message : part);
    entry.mayBeKept = !isAtOnce;
    if (isWhole) entry.message = message;
    if (isWhole && isAtOnce) {
      entry.settled = this.#pass(entry, message, undefined);
      return;
    }
    const { chatId } = arrived;
    const before = this.#latest.get(chatId);
    this.#latest.set(chatId, entry);
    entry.settled = this.#passWhole(entry, message, before).then(() => {
      if (this.#latest.get(chatId) === entry) this.#latest.delete(chatId);
    });
  }

  /** Takes in an update that is a part of the message of an earlier one: it is done when that one is. */
  join(arrived: Arrived, leadId: number, part: ReceivedMessage): void {
    const entry = this.#add(arrived);
    const lead = this.#entries.get(leadId);
    entry.mayBeKept = !this.#actsAtOnce(part);
    void lead?.whole.then(() => {
      entry.mayBeKept = lead.mayBeKept;
      entry.message = lead.message;
    });
    entry.settled = (lead?.settled ?? Promise.resolve()).then(async () => {
      if (lead?.isDone ?? true) await this.#finish(entry);
    });
  }

  /** Takes in an update that is not a message: it is done once `work`, which never rejects, has ended. */
  takeWork(arrived: Arrived, work: () => Promise<void>): void {
    const entry = this.#add(arrived);
    entry.settled = work().then(() => this.#finish(entry));
  }

  #actsAtOnce(message: ReceivedMessage | undefined): boolean {
    return message !== undefined && this.#options.actsAtOnce?.(message) === true;
  }

  #add(arrived: Arrived): Entry {
    const { update_id: id } = arrived.update;
    const { isParked = false } = arrived;
    const entry: Entry = {
      id,
      poll: this.#polls,
      arrived,
      arrivedAt: Date.now(),
      message: undefined,
      mayBeKept: false,
      isParked,
      isDone: false,
      isHeld: false,
      whole: Promise.resolve(),
      settled: Promise.resolve(),
    };
    this.#entries.set(id, entry);
    // One out of the parking was confirmed long ago, or comes with the first poll.
    if (!isParked) this.#next = id + 1;
    return entry;
  }

  async #finish(entry: Entry): Promise<void> {
    entry.isDone = true;
    if (entry.isParked) await this.#options.parking.remove(entry.id);
  }

  async #passWhole(
    entry: Entry,
    message: ReceivedMessage | Promise<ReceivedMessage>,
    before: Entry | undefined,
  ): Promise<void> {
    if (!(message instanceof Promise)) return await this.#pass(entry, message, before);
    entry.isHeld = true;
    const known = message.then(
      (whole) => {
        entry.message = whole;
        entry.mayBeKept = !this.#actsAtOnce(whole);
      },
      () => undefined,
    );
    entry.whole = known;
    await known;
    const { message: whole, mayBeKept } = entry;
    // Who is not listened to waits for nobody, so that nothing of theirs has to be kept.
    if (whole !== undefined) await this.#pass(entry, whole, mayBeKept ? before : undefined);
  }

  /** Resolves when all updates are settled or parked, or after `limitMs`. */
  async settledWithin(limitMs: number): Promise<void> {
    const open = [...this.#entries.values()].filter((entry) => !isSettled(entry));
    const settled = Promise.all(open.map((entry) => entry.settled));
    if (open.length > 0) await settledWithin(settled, { ms: limitMs, signal: this.#closing.signal });
  }

  /**
   * Resolves when no publish is under way any more, with the offset to go on from. Retries are given up. What is not taken
   * after `limitMs` comes again, and is known by its id.
   */
  async close(limitMs?: number): Promise<number | undefined> {
    this.#closing.abort();
    this.#closing[Symbol.dispose]();
    await settledWithin(Promise.all([...this.#entries.values()].map((entry) => entry.settled)), { ms: limitMs });
    return this.#offset();
  }

  async #pass(entry: Entry, message: ReceivedMessage, before: Entry | undefined): Promise<void> {
    const waits = before !== undefined && (before.isHeld || before.poll !== entry.poll);
    entry.isHeld ||= waits;
    if (waits && !(await isTaken(before))) return;
    for (let faults = 0; !entry.isDone; ) {
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
    await this.#finish(entry);
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

/** May be confirmed to Telegram. */
function isSettled({ isDone, isParked }: Entry): boolean {
  return isDone || isParked;
}

/** Waits for an update to settle; false when it was left behind by an abort, so that later ones must not overtake it. */
async function isTaken(entry: Entry): Promise<boolean> {
  await entry.settled;
  return entry.isDone;
}
