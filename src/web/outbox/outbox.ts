import type { Client } from "../../client/client.js";
import { ClientError } from "../../client/client-error.js";
import { newMessageId } from "../../client/commands.js";
import type { UploadedFile } from "../../client/upload.js";
import { sentenceOf } from "../failures/said.js";
import type { OutboxStore, OutgoingFile, OutgoingMessage, SendMode } from "./outbox-store.js";

type Gateway = Pick<Client, "sendMessage" | "upload" | "openSession" | "state">;

interface OutboxOptions {
  readonly store: OutboxStore;
  /** The present connection, if there is one. */
  gateway(): Gateway | undefined;
  /** Resolves once the gateway knows the session, where the page follows it just now. */
  ready(sessionKey: string): Promise<void> | undefined;
  /** What `of` says about this session is another. */
  onChange(sessionKey: string): void;
  /** So long the end of a connection may be noticed after what else it has ended. Default 2,000. */
  readonly noticeMs?: number;
}

/** What the reader writes. */
export interface Written {
  readonly text: string;
  readonly mode: SendMode;
  readonly files: readonly OutgoingFile[];
  /** The event of the message that it takes the place of, with all that came after that. */
  readonly replaces?: number | undefined;
  /** The answer goes to the chat on its channel too. */
  readonly alsoToChat?: boolean;
}

/**
 * The reader's messages on their way to the gateway. Each is kept in the browser, under one id, from the moment of
 * sending until the gateway has confirmed it: it outlives a reload, a crash and a gateway that is down, and however
 * often it is brought, the gateway takes it once. The messages of a chat go in the order in which they were written.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #onTheWay = new Set<string>();
  /** Of each session, the end of what was sent last. */
  readonly #tails = new Map<string, Promise<void>>();
  #messages: readonly OutgoingMessage[] = [];
  /** How often the connection has come. */
  #openings = 0;
  /** Of what waits for a connection to go and come. */
  #wakers: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier page has left. */
  async load(): Promise<void> {
    const known = new Set(this.#messages.map(({ messageId }) => messageId));
    const left = (await this.#options.store.messages()).filter(({ messageId }) => !known.has(messageId));
    // The answer that it was to replace was another one.
    const later = left.map((message) => (message.mode === "cancel" ? { ...message, mode: undefined } : message));
    this.#messages = [...later, ...this.#messages];
    for (const key of new Set(left.map(({ sessionKey }) => sessionKey))) this.#options.onChange(key);
    this.resume();
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** What the gateway does not have yet of this session. */
  of(sessionKey: string): readonly OutgoingMessage[] {
    return this.#messages.filter((message) => message.sessionKey === sessionKey);
  }

  send(sessionKey: string, written: Written): void {
    const order = Math.max(Date.now() * 1000, (this.#messages.at(-1)?.order ?? 0) + 1);
    const at = new Date().toISOString();
    const message = { ...written, messageId: newMessageId(), sessionKey, at, order, error: undefined };
    this.#messages = [...this.#messages, message];
    this.#options.onChange(sessionKey);
    const kept = this.#options.store.send(message);
    // A browser that keeps nothing still sends it.
    this.#deliver(
      message,
      kept.catch(() => undefined),
    );
  }

  /** Tries one again that was refused. */
  retry(messageId: string): void {
    const before = this.#messages.find((message) => message.messageId === messageId);
    // What was uploaded a while ago may be gone: each file is brought again.
    const files = before?.files.map((file) => ({ ...file, uploaded: undefined })) ?? [];
    const message = this.#change(messageId, { error: undefined, files });
    if (message !== undefined) this.#deliver(message, this.#keep(message));
  }

  /** The gateway has it, or the reader does not want it any more. */
  drop(messageId: string): void {
    const message = this.#messages.find((other) => other.messageId === messageId);
    if (message === undefined) return;
    this.#messages = this.#messages.filter((other) => other !== message);
    this.#options.onChange(message.sessionKey);
    this.#options.store.removeMessage(messageId).catch(() => undefined);
  }

  /** The chat is gone. */
  forget(sessionKey: string): void {
    for (const { messageId } of this.of(sessionKey)) this.drop(messageId);
  }

  /** The connection is back: whatever was neither confirmed nor refused goes again. */
  resume(): void {
    this.#openings += 1;
    for (const wake of this.#wakers.splice(0)) wake();
    for (const message of this.#messages)
      if (message.error === undefined && !this.#onTheWay.has(message.messageId)) this.#deliver(message);
  }

  #deliver({ messageId, sessionKey }: OutgoingMessage, kept: Promise<unknown> = Promise.resolve()): void {
    this.#onTheWay.add(messageId);
    const before = this.#tails.get(sessionKey) ?? Promise.resolve();
    const done = Promise.all([before, kept]).then(() => this.#tryToBring(messageId));
    this.#tails.set(sessionKey, done);
  }

  /** Never rejects. */
  async #tryToBring(messageId: string): Promise<void> {
    for (;;) {
      const openings = this.#openings;
      try {
        await this.#bring(messageId);
      } catch (error) {
        if (isPassing(error) && (await this.#isBackSince(openings))) continue;
        this.#refused(messageId, error);
      }
      this.#onTheWay.delete(messageId);
      return;
    }
  }

  /** What ends a connection ends uploads, too, and either may be noticed first. */
  async #isBackSince(openings: number): Promise<boolean> {
    const { gateway, noticeMs = 2000 } = this.#options;
    if (this.#openings === openings && gateway()?.state === "open")
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, noticeMs);
        this.#wakers.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    return this.#openings !== openings;
  }

  async #bring(messageId: string): Promise<void> {
    const { gateway, ready } = this.#options;
    const client = gateway();
    const message = this.#messages.find((other) => other.messageId === messageId);
    if (client === undefined || message === undefined) return;
    const { sessionKey, text, mode, alsoToChat, replaces } = message;
    await (ready(sessionKey) ?? open(client, sessionKey));
    const attachments: UploadedFile[] = [];
    for (const [index, file] of message.files.entries())
      attachments.push(file.uploaded ?? (await this.#upload(client, message, index, file)));
    const sent = {
      sessionKey,
      content: text,
      messageId,
      mode,
      attachments,
      replaces,
      ...(alsoToChat === true && { alsoToChat }),
    };
    const { status } = await client.sendMessage(sent);
    this.#options.store.removeMessage(messageId).catch(() => undefined);
    // It goes from the page when its event comes. Of one that the gateway had already, the event came long ago; and
    // nobody sees the events of a chat that is not open.
    if (status === "duplicate" || ready(sessionKey) === undefined) this.drop(messageId);
  }

  async #upload(client: Gateway, message: OutgoingMessage, index: number, file: OutgoingFile): Promise<UploadedFile> {
    const uploaded = await client.upload(file.content, file.name);
    const now = this.#messages.find((other) => other.messageId === message.messageId) ?? message;
    const files = now.files.map((other, place) => (place === index ? { ...other, uploaded } : other));
    const changed = this.#change(message.messageId, { files });
    if (changed !== undefined) await this.#keep(changed);
    return uploaded;
  }

  #refused(messageId: string, error: unknown): void {
    // Nobody knows whether it arrived: it stays on its way, and `resume` brings it again under the same id.
    if (isPassing(error) && this.#options.gateway()?.state !== "open") return;
    const changed = this.#change(messageId, { error: sentenceOf(error) });
    if (changed !== undefined) void this.#keep(changed);
  }

  #change(messageId: string, change: Partial<OutgoingMessage>): OutgoingMessage | undefined {
    const before = this.#messages.find((message) => message.messageId === messageId);
    if (before === undefined) return undefined;
    const after = { ...before, ...change };
    this.#messages = this.#messages.map((message) => (message === before ? after : message));
    this.#options.onChange(after.sessionKey);
    return after;
  }

  #keep(message: OutgoingMessage): Promise<void> {
    return this.#options.store.putMessage(message).catch(() => undefined);
  }
}

/** Only chats of the page begin with a message from here. */
async function open(client: Gateway, sessionKey: string): Promise<void> {
  if (sessionKey.startsWith("webui:")) await client.openSession({ sessionKey });
}

/** True where the same thing is tried again once the connection is back. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false;
  return ["lost", "timeout", "closed"].includes(error.kind) || error.code === "closed";
}
