import { InOrder } from "../../../src/util/async/in-order.js";
import { messageIdOf } from "./keep/message-id.js";
import type { BridgeOutbox } from "./keep/outbox.js";
import type { SendCommand } from "./server/commands.js";
import type { Uploads } from "./server/uploads.js";
import type { Arrived, WhatsApp } from "./whatsapp.js";

export interface SendingParts {
  readonly whatsapp: WhatsApp;
  readonly outbox: BridgeOutbox;
  readonly uploads: Uploads;
  /** A message that somebody wrote lately, for a quotation. */
  readonly said: (chat: string, messageId: string) => Arrived["message"] | undefined;
}

/** Messages on their way to WhatsApp: each delivery once, however often the gateway asks for it. */
export class Sending {
  readonly #parts: SendingParts;
  readonly #chats = new InOrder<string>();

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** Resolves with the message's id once WhatsApp has it. @throws {SendFailure} */
  send(command: SendCommand, signal: AbortSignal): Promise<string> {
    return this.#chats.run(() => this.#send(command, signal), command.to);
  }

  /** The message's id, if WhatsApp has it for certain. */
  async find(command: Omit<SendCommand, "type" | "file"> & { readonly file?: { readonly name: string } | undefined }) {
    const messageId = messageIdOf(command);
    await this.#chats.endOf(command.to);
    const found = await this.#parts.outbox.find(messageId);
    return found?.state === "sent" ? messageId : undefined;
  }

  async settled(): Promise<void> {
    await this.#chats.settled();
  }

  async #send(command: SendCommand, signal: AbortSignal): Promise<string> {
    const { whatsapp, outbox, uploads } = this.#parts;
    const { to, file } = command;
    const messageId = messageIdOf(command);
    try {
      const before = await outbox.find(messageId);
      if (before?.state === "sent") return messageId;
      // What may have left goes out again as it was, under its id: devices that have it take it for the same.
      const content =
        before === undefined ? await this.#prepare(command, messageId, signal) : fromBase64(before.content);
      const sent = { to, content: Buffer.from(content).toString("base64") };
      if (before === undefined) await outbox.put(messageId, { ...sent, state: "begun" });
      try {
        await whatsapp.relay(to, messageId, content, signal);
      } catch (error) {
        // Of one that has left before, nothing is known still.
        if (before === undefined && isRefused(error)) await outbox.forget(messageId);
        throw error;
      }
      await outbox.put(messageId, { ...sent, state: "sent" });
      return messageId;
    } finally {
      if (file !== undefined) await uploads.remove(file.upload);
    }
  }

  async #prepare(
    { to, text, file, replyTo }: SendCommand,
    messageId: string,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const { whatsapp, uploads, said } = this.#parts;
    const quoted = replyTo === undefined ? undefined : said(to, replyTo);
    const draft = { to, messageId, text, quoted };
    if (file === undefined) return await whatsapp.prepare(draft, signal);
    const { name, mimeType, isVoice = false } = file;
    return await whatsapp.prepare(
      { ...draft, file: { path: uploads.pathOf(file.upload), name, mimeType, isVoice } },
      signal,
    );
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "outcome" in error && error.outcome === "refused";
}

function fromBase64(text: string): Uint8Array {
  return Buffer.from(text, "base64");
}
