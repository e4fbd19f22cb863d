import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { sleep } from "../../../util/async/sleep.js";
import type { ChannelRecords } from "../../channel.js";
import { type MatrixEvent, parseEvent } from "../event.js";

const record = z.object({ roomId: z.string(), event: z.unknown(), at: z.number(), isTold: z.boolean() });

export interface LockedOptions {
  readonly botId: string;
  readonly records: ChannelRecords;
  /** Says in the room that this message cannot be read. */
  readonly tell: (roomId: string, eventId: string) => void;
  readonly waitMs: number;
  readonly log: Logger;
}

interface LockedMessage {
  readonly roomId: string;
  readonly event: MatrixEvent;
  readonly at: number;
  readonly isTold: boolean;
}

/** Of more than these the oldest are given up, and of those that are older. */
const mostLocked = 500;
/** The same of one person: what nobody can read anybody can send. */
const mostOfOne = 50;
/** A person is told about so many of theirs in a while. */
const mostTold = 3;
const toldMs = 600_000;
const longestMs = 14 * 24 * 3_600_000;

/** Encrypted messages whose key has not come. Durable, so that the position may move beyond them. */
export class Locked {
  readonly #options: LockedOptions;
  readonly #signal: AbortSignal;
  readonly #messages = new Map<string, LockedMessage>();
  readonly #background = new Background(() => undefined);
  /** How many of a person's messages in a room were told about lately. */
  readonly #told = new LRUCache<string, number>({ max: 1000, ttl: toldMs, noUpdateTTL: true });

  constructor(options: LockedOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const kept = options.records.list().flatMap(({ id, value }) => {
      const { data } = record.safeParse(value);
      const event = parseEvent(data?.event);
      return data === undefined || event === undefined || !id.startsWith(this.#prefix) ? [] : [{ ...data, event }];
    });
    for (const one of kept.sort((a, b) => a.at - b.at)) {
      this.#messages.set(one.event.event_id, one);
      if (!one.isTold) this.#background.own(this.#tellLater(one));
    }
  }

  get size(): number {
    return this.#messages.size;
  }

  /** The oldest first. */
  get all(): readonly LockedMessage[] {
    return [...this.#messages.values()];
  }

  /** Resolves once it is durable that this message waits for its key. */
  async add(roomId: string, event: MatrixEvent): Promise<void> {
    if (this.#messages.has(event.event_id)) return;
    const message = { roomId, event, at: Date.now(), isTold: false };
    await this.#put(message);
    const own = this.all.filter((one) => one.event.sender === event.sender);
    const surplus = new Set([...this.all.slice(0, -mostLocked), ...own.slice(0, -mostOfOne)]);
    const old = this.all.filter((one) => surplus.has(one) || one.at < Date.now() - longestMs);
    for (const { event: gone } of old) await this.forget(gone.event_id);
    this.#background.own(this.#tellLater(message));
  }

  async forget(eventId: string): Promise<void> {
    if (this.#messages.delete(eventId)) await this.#options.records.delete(this.#prefix + eventId);
  }

  async settled(): Promise<void> {
    await this.#background.settled();
  }

  get #prefix(): string {
    return `${this.#options.botId}/locked/`;
  }

  /** Once for each message, and not at all if the key is only late. */
  async #tellLater({ roomId, event }: LockedMessage): Promise<void> {
    const { waitMs, tell, log } = this.#options;
    await sleep(waitMs, this.#signal).catch(() => undefined);
    const message = this.#messages.get(event.event_id);
    if (this.#signal.aborted || message === undefined) return;
    await this.#put({ ...message, isTold: true });
    log.warn("an encrypted message on Matrix cannot be read: its key has not come", { roomId, sender: event.sender });
    const who = `${roomId} ${event.sender}`;
    const told = (this.#told.get(who) ?? 0) + 1;
    this.#told.set(who, told);
    if (told <= mostTold) tell(roomId, event.event_id);
  }

  async #put(message: LockedMessage): Promise<void> {
    this.#messages.set(message.event.event_id, message);
    await this.#options.records.put(this.#prefix + message.event.event_id, message);
  }
}
