import { z } from "zod";
import type { Attachment, OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { Receipt } from "../channel.js";
import type { Graph } from "./graph.js";
import { GraphError, sentenceOf, windowClosed } from "./graph-error.js";
import { mediaKindOf, mediaPayload, templatePayload, textPayload, toBody, uploadTypeOf } from "./payload.js";
import type { SaidLately } from "./said.js";
import type { Traces } from "./traces.js";

export interface Template {
  readonly name: string;
  readonly language: string;
}

export interface SendingParts {
  readonly graph: Graph;
  readonly said: SaidLately;
  readonly traces: Traces;
  readonly template: Template | undefined;
  /** Of one call; four times as long for a file. */
  readonly timeoutMs: number;
}

const answered = z.looseObject({ messages: z.array(z.looseObject({ id: z.string() })).min(1) });
const longestTrace = 500;

/** What WhatsApp gives back with each status of this message. */
export function traceOf(outboundId: string): string {
  return outboundId.slice(-longestTrace);
}

/** Messages on their way to people. */
export class Sending {
  readonly #parts: SendingParts;

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** @throws {ChannelError} */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const { said, timeoutMs, template } = this.#parts;
    const { chatId, content, attachments } = message;
    const [file] = attachments;
    if (file !== undefined) return await this.#post(message, await this.#upload(file, signal), timeoutMs * 4, signal);
    if (template !== undefined && said.isWindowClosed(chatId))
      return await this.#sendTemplate(message, template, signal);
    try {
      return await this.#post(message, textPayload({ content, buttons: message.buttons }), timeoutMs, signal);
    } catch (error) {
      const isLate = error instanceof GraphError && error.code === windowClosed;
      if (!isLate || template === undefined) throw error;
      return await this.#sendTemplate(message, template, signal);
    }
  }

  /** Says something to a person outside the outbound queue. @throws {ChannelError} */
  async tell(chatId: string, text: string, ms: number, signal: AbortSignal): Promise<void> {
    await this.#parts.graph.post({ ...addressed(chatId), ...textPayload({ content: text }) }, ms, signal);
  }

  /** To a person who has not written for a day. @throws {ChannelError} */
  async #sendTemplate(message: OutboundMessage, template: Template, signal: AbortSignal): Promise<Receipt> {
    const payload = templatePayload(message.content, template.name, template.language);
    if (payload === undefined)
      throw new ChannelError(`${sentenceOf(windowClosed)} This text does not fit into the template.`);
    return await this.#post(message, payload, this.#parts.timeoutMs, signal);
  }

  async #post(
    { id, chatId, content, replyTo }: OutboundMessage,
    payload: object,
    ms: number,
    signal: AbortSignal,
  ): Promise<Receipt> {
    const { graph, said, traces } = this.#parts;
    const context = replyTo?.startsWith("wamid.") ? { context: { message_id: replyTo } } : {};
    const body = { ...addressed(chatId), ...context, ...payload, biz_opaque_callback_data: traceOf(id) };
    const [shown] = answered.parse(await graph.post(body, ms, signal)).messages;
    const platformMessageId = shown?.id ?? "";
    traces.noteAnswered(traceOf(id));
    said.note(platformMessageId, { chatId, text: toBody(content), isOurs: true });
    return { platformMessageId };
  }

  /** Nothing has been shown yet, whatever happens. @throws {ChannelError} `refused` */
  async #upload(file: Attachment, signal: AbortSignal): Promise<object> {
    const { graph, timeoutMs } = this.#parts;
    const type = uploadTypeOf(file.mimeType);
    const form = new FormData();
    form.set("type", type);
    form.set("file", new Blob([new Uint8Array(await readToSend(file))], { type }), file.filename);
    try {
      const id = await graph.upload(form, timeoutMs * 4, signal);
      return mediaPayload(mediaKindOf(file), id, file.filename);
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      const { message, retryable, retryAfterMs } = error;
      throw new ChannelError(message, { retryable, retryAfterMs, outcome: "refused" });
    }
  }
}

function addressed(chatId: string): object {
  return { recipient_type: "individual", to: chatId };
}
