import { messageOf } from "../../../errors.js";
import type { Logger } from "../../../log.js";
import { Background } from "../../../util/async/background.js";
import { InOrder } from "../../../util/async/in-order.js";
import type { Account, Bot } from "../account.js";
import { part } from "../api.js";
import { always, relatesTo, textBody } from "../body.js";
import { type Sending, transactionOf } from "../send.js";

const cannotRead =
  "This room is encrypted, and I cannot read encrypted messages. Please write to me in a room without encryption.";
const noKey =
  "I cannot read this message: the key to it has not reached me. I read it when the key comes. To be sure, please send it again.";
const noticeMs = 15_000;

/** What the bot shows about what it reads: receipts, and that it cannot read. Nobody waits for it but the end. */
export class Marks {
  readonly #account: Account;
  readonly #bot: Bot;
  readonly #sending: Sending;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #background: Background;
  readonly #rooms = new InOrder<string>();
  /** The newest message of each room that is read and not marked yet. */
  readonly #unmarked = new Map<string, { readonly eventId: string; readonly thread: string | undefined }>();

  constructor(account: Account, bot: Bot, sending: Sending, log: Logger, signal: AbortSignal) {
    this.#account = account;
    this.#bot = bot;
    this.#sending = sending;
    this.#log = log;
    this.#signal = signal;
    this.#background = new Background((error) => {
      if (!signal.aborted) log.debug("something was not shown on Matrix", { error: messageOf(error) });
    });
  }

  /** Shows that a message was read. Of several that wait only the newest is told. */
  read(roomId: string, eventId: string, thread: string | undefined): void {
    const place = `${roomId} ${thread ?? ""}`;
    const isWaiting = this.#unmarked.has(place);
    this.#unmarked.set(place, { eventId, thread });
    if (isWaiting) return;
    const tell = async (): Promise<void> => {
      const newest = this.#unmarked.get(place);
      this.#unmarked.delete(place);
      if (newest === undefined || this.#signal.aborted) return;
      const path = `/client/v3/rooms/${part(roomId)}/receipt/m.read/${part(newest.eventId)}`;
      const body = { thread_id: newest.thread ?? "main" };
      await this.#account.api.call({ method: "POST", path, body, what: "a receipt" }, this.#signal);
    };
    this.#background.own(this.#rooms.run(tell, place));
  }

  /** What is written there cannot be read, which its people are told once. */
  async onEncrypted(roomId: string): Promise<void> {
    const { rooms } = this.#bot;
    const { isTold = false } = rooms.of(roomId);
    await rooms.note(roomId, { isEncrypted: true });
    if (this.#account.canEncrypt) return;
    if (isTold) return;
    this.#log.warn("a room on Matrix is encrypted: the bot cannot read there", { roomId });
    const tell = async (): Promise<void> => {
      if (rooms.of(roomId).isTold === true) return;
      const event = { ...textBody(cannotRead, [], "m.notice"), ...always };
      const transaction = transactionOf(`encrypted ${roomId}`);
      await this.#sending.put(roomId, "m.room.message", event, transaction, noticeMs, this.#signal);
      await rooms.note(roomId, { isTold: true });
    };
    this.#background.own(this.#rooms.run(tell, `${roomId} encrypted`));
  }

  /** A message cannot be read, because its key has not come. */
  onLocked(roomId: string, eventId: string): void {
    const event = { ...textBody(noKey, [], "m.notice"), ...always, ...relatesTo({ replyTo: eventId }) };
    const transaction = transactionOf(`locked ${eventId}`);
    const tell = async (): Promise<void> => {
      await this.#sending.put(roomId, "m.room.message", event, transaction, noticeMs, this.#signal);
    };
    this.#background.own(this.#rooms.run(tell, `${roomId} locked`));
  }

  async settled(): Promise<void> {
    await this.#background.settled();
  }
}
