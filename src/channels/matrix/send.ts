import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import type { OutboundMessage } from "../../bus/messages.js";
import { ChannelError, messageOf } from "../../errors.js";
import type { Logger } from "../../log.js";
import { sleep } from "../../util/async/sleep.js";
import type { Channel, ReceivedMessage } from "../channel.js";
import { asDocumented } from "../wire/call.js";
import type { Account } from "./account.js";
import { part } from "./api.js";
import { always, editBody, relatesTo, textBody } from "./body.js";
import { upload } from "./files.js";
import { numberSign, type Questions } from "./kept/questions.js";
import { title } from "./matrix-error.js";

const sent = z.looseObject({ event_id: z.string() });

/** A sign that the homeserver asks to wait for longer is left out: words answer a question, too. */
const longestSignWaitMs = 5000;
const signTries = 4;

/** The same message always has the same one: by it the homeserver knows a repeat, and shows it once. */
export function transactionOf(outboundId: string): string {
  return `mc-${createHash("sha256").update(outboundId).digest("hex").slice(0, 40)}`;
}

/** What goes out in the rooms of one account. */
export class Sending {
  readonly #account: Account;
  readonly #log: Logger;

  constructor(account: Account, log: Logger) {
    this.#account = account;
    this.#log = log;
  }

  /** Sends a text with its choices, or a file. Resolves with the id of the event. @throws {ChannelError} */
  async send(message: OutboundMessage, ms: number, signal: AbortSignal): Promise<string> {
    const { questions } = await this.#account.identify(signal);
    const room = await this.#openRoom(message.chatId, signal);
    const { api } = this.#account;
    const { thread, replyTo, buttons = [], content } = message;
    const [file] = message.attachments;
    const isSealed = await this.#isSealed(room, signal);
    const body =
      file === undefined ? textBody(content, buttons) : await upload(api, file, { ms: ms * 4, isSealed }, signal);
    const event = { ...body, ...always, ...relatesTo({ thread, replyTo }) };
    const eventId = await this.put(room, "m.room.message", event, transactionOf(message.id), ms, signal);
    if (buttons.length > 0) {
      await questions.ask(eventId, buttons, thread);
      await this.#addSigns(room, eventId, message, questions, signal);
    }
    return eventId;
  }

  /** Puts another text in place of a message's, and takes its signs away. @throws {ChannelError} */
  async edit(
    { chatId, platformMessageId: eventId, content }: Parameters<NonNullable<Channel["edit"]>>[0],
    ms: number,
    signal: AbortSignal,
  ): Promise<void> {
    const room = await this.#openRoom(chatId, signal);
    // A text may come back to what it was: that is a change, too.
    await this.put(room, "m.room.message", editBody(eventId, content), randomUUID(), ms, signal);
    const { questions } = await this.#account.identify(signal);
    const signs = questions.of(eventId)?.signs ?? [];
    await questions.close(eventId);
    for (const sign of signs) {
      const path = `/client/v3/rooms/${part(room)}/redact/${part(sign)}/${transactionOf(sign)}`;
      const call = { method: "PUT", path, body: {}, what: "to take a sign away" } as const;
      await this.#tried(() => this.#account.api.call(call, signal), signal);
    }
  }

  /** A sentence for a person outside the outbound queue. @throws {ChannelError} */
  async tell({ chatId, thread, platformMessageId: replyTo }: Told, text: string, signal: AbortSignal): Promise<void> {
    const event = { ...textBody(text, [], "m.notice"), ...always, ...relatesTo({ thread, replyTo }) };
    await this.put(chatId, "m.room.message", event, randomUUID(), noticeMs, signal);
  }

  /** Resolves with the id of the event. @throws {ChannelError} */
  async put(
    room: string,
    type: string,
    body: object,
    transaction: string,
    ms: number,
    signal: AbortSignal,
  ): Promise<string> {
    const sealed = await this.#sealed(room, type, body, signal);
    const path = `/client/v3/rooms/${part(room)}/send/${sealed === undefined ? type : "m.room.encrypted"}/${transaction}`;
    const call = { method: "PUT", path, body: sealed ?? body, ms, what: "the message", isInRoom: true } as const;
    return asDocumented(title, sent, await this.#account.api.call(call, signal)).event_id;
  }

  /** All that goes into this room is encrypted. */
  async #isSealed(room: string, signal: AbortSignal): Promise<boolean> {
    const { rooms } = await this.#account.identify(signal);
    return this.#account.canEncrypt && (await rooms.isEncrypted(room, this.#account.api, signal));
  }

  /** Undefined: it goes as it is. Signs do so everywhere: clients count no others. */
  async #sealed(room: string, type: string, body: object, signal: AbortSignal): Promise<object | undefined> {
    if (type === "m.reaction" || !(await this.#isSealed(room, signal))) return undefined;
    const encryption = await this.#account.encryption(signal);
    const { rooms } = await this.#account.identify(signal);
    const people = await rooms.peopleIn(room, this.#account.api, signal);
    return await encryption?.encrypt(room, people, type, body, signal);
  }

  /** The room as it is today. In an encrypted one nothing of ours would be encrypted. @throws {ChannelError} */
  async #openRoom(chatId: string, signal: AbortSignal): Promise<string> {
    const room = await this.#account.roomOf(chatId, signal);
    const { rooms } = await this.#account.identify(signal);
    if (this.#account.canEncrypt || rooms.of(room).isEncrypted !== true) return room;
    throw new ChannelError("The Matrix room is encrypted, and nothing is sent there without encryption.", {
      isChatClosed: true,
    });
  }

  /** The signs that people press. Without them the question is there all the same. */
  async #addSigns(
    room: string,
    eventId: string,
    { id, buttons = [] }: OutboundMessage,
    questions: Questions,
    signal: AbortSignal,
  ): Promise<void> {
    for (const index of buttons.keys()) {
      const about = { rel_type: "m.annotation", event_id: eventId, key: numberSign(index) };
      const transaction = transactionOf(`${id} ${index}`);
      const sign = await this.#tried(
        () => this.put(room, "m.reaction", { "m.relates_to": about }, transaction, noticeMs, signal),
        signal,
      );
      if (sign === undefined) return;
      await questions.addSign(eventId, sign);
    }
  }

  /** Undefined: it did not work, and nothing depends on it. */
  async #tried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        const waitMs = error instanceof ChannelError ? error.retryAfterMs : undefined;
        const canWait = waitMs !== undefined && waitMs <= longestSignWaitMs && tries < signTries;
        if (!canWait || signal.aborted) {
          if (!signal.aborted) this.#log.warn("a sign on Matrix was left out", { error: messageOf(error) });
          return undefined;
        }
        await sleep(waitMs, signal).catch(() => undefined);
      }
    }
  }
}

type Told = Pick<ReceivedMessage, "chatId" | "thread" | "platformMessageId">;
const noticeMs = 15_000;
