import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Attachment, OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import type { Logger } from "../../log.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { ReceivedMessage } from "../channel.js";
import { withoutMessage } from "../wire/call.js";
import type { Account, ApiCall } from "./account.js";
import { mediaBody, plainText, textBody } from "./body.js";
import { fileTypeOf, isPicture, plainName } from "./files.js";
import { isOfGuild, type Place, pathOf, replyMinutes } from "./places.js";
import { QqRefusal } from "./qq-error.js";
import type { Replies, Slot } from "./replies.js";

export interface SenderOptions {
  readonly account: Account;
  readonly replies: Replies;
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** What is put in front of the next answer of a chat where one was not taken. */
export const owedWord =
  "(QQ did not take an earlier answer of mine: it was too late, or one too many. Ask me for it, and I say it again.)";

const shown = z.looseObject({
  id: z.string().optional(),
  ext_info: z.looseObject({ ref_idx: z.string().optional() }).optional(),
});
const uploaded = z.looseObject({ file_info: z.union([z.string().min(1), z.looseObject({})]) });
/** A bot that may not use Markdown is asked again after so long. */
const markdownAgainMs = 6 * 3_600_000;
const mostTries = 12;
const patience = 3;

/** What is shown: QQ's id of it, and what an answer to it names. */
export interface Shown {
  readonly id: string;
  readonly quotedAs: string | undefined;
}

/** Sends messages, each as a reply to one that QQ still lets the bot answer. */
export class Sender {
  readonly #options: SenderOptions;
  /** Unix ms. */
  #plainUntil = 0;
  /** How often QQ found that there are too many replies to a message. */
  readonly #tooMany = new LRUCache<string, number>({ max: 500 });

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** @throws {ChannelError} */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Shown> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const { replies } = this.#options;
    const { chatId } = message;
    const place = replies.placeOf(chatId);
    const [file] = message.attachments;
    const owes = file === undefined && replies.owesWord(chatId);
    const whole = owes ? { ...message, content: `${owedWord}\n\n${message.content}` } : message;
    const fileInfo = file === undefined || isOfGuild(place) ? undefined : await this.#upload(place, file, signal);
    const post = async (slot: Slot | undefined): Promise<Shown> => {
      if (file === undefined) return await this.#sendText(place, whole, slot, signal);
      const body = fileInfo === undefined ? await guildFile(file, slot) : { ...mediaBody(fileInfo), ...named(slot) };
      return await this.#post(place, body, signal, 4);
    };
    const result = await this.#inSomeSlot(place, message, post);
    if (owes) await replies.setOwesWord(chatId, false);
    return result;
  }

  /** A word of the gateway to who wrote this. */
  async tell({ chatId, platformMessageId = "" }: ReceivedMessage, text: string, signal: AbortSignal): Promise<void> {
    const id = `notice ${platformMessageId} ${text}`;
    const about = { channel: "qq", chatId, sessionKey: "", attachments: [], replyTo: platformMessageId };
    await this.send({ ...about, id, content: text }, signal);
  }

  /** As a reply to what takes one, at last as a message that answers nothing. */
  async #inSomeSlot(
    place: Place,
    { id, chatId, replyTo }: OutboundMessage,
    post: (slot: Slot | undefined) => Promise<Shown>,
  ): Promise<Shown> {
    const { replies } = this.#options;
    for (let tries = 0; tries < mostTries; tries += 1) {
      const slot = await replies.slotFor(chatId, id, replyTo);
      try {
        return await post(slot);
      } catch (error) {
        if (!(error instanceof QqRefusal)) throw error;
        if (error.isRepeat && slot?.isRepeat === true)
          return { id: `${slot.messageId}#${slot.seq}`, quotedAs: undefined };
        await this.#settle(place, error, { ownId: id, chatId, slot });
      }
    }
    throw new ChannelError("QQ took none of the replies that were tried.", { retryable: true });
  }

  /** Returns where another place is to be tried. @throws {ChannelError} where not */
  async #settle(
    place: Place,
    refusal: QqRefusal,
    { ownId, chatId, slot }: { readonly ownId: string; readonly chatId: string; readonly slot: Slot | undefined },
  ): Promise<void> {
    const { replies } = this.#options;
    if (slot === undefined) {
      if (!refusal.mayNotBegin && !refusal.isTooLate) throw refusal;
      await replies.setOwesWord(chatId, true);
      throw tooLate(place, refusal);
    }
    if (refusal.isTooLate || this.#isTooOften(refusal, slot)) return await replies.close(chatId, slot.messageId);
    if (!refusal.retryable) await replies.free(chatId, ownId);
    // Somebody else has used this number: the next one.
    if (!refusal.isRepeat) throw refusal;
  }

  /** QQ uses one code for too fast and for too many replies to a message. */
  #isTooOften(refusal: QqRefusal, { messageId }: Slot): boolean {
    if (!refusal.isTooMany) return false;
    const times = (this.#tooMany.get(messageId) ?? 0) + 1;
    this.#tooMany.set(messageId, times);
    return times >= patience;
  }

  async #sendText(place: Place, message: OutboundMessage, slot: Slot | undefined, signal: AbortSignal): Promise<Shown> {
    const { content, buttons = [] } = message;
    let hasMarkdown = !isOfGuild(place) && Date.now() >= this.#plainUntil;
    let hasAddresses = true;
    for (;;) {
      const text = isOfGuild(place)
        ? { content: plainText(content, buttons, { hasAddresses }) }
        : textBody(message, { hasMarkdown, hasAddresses });
      try {
        return await this.#post(place, { ...text, ...named(slot, place) }, signal);
      } catch (error) {
        if (!(error instanceof QqRefusal)) throw error;
        if (hasMarkdown && error.isAboutMarkup) {
          hasMarkdown = false;
          if (buttons.length === 0) this.#plainUntil = Date.now() + markdownAgainMs;
          this.#options.log.debug("QQ took no Markdown", { code: error.code });
        } else if (hasAddresses && error.isAboutAddresses) hasAddresses = false;
        else throw error;
      }
    }
  }

  async #upload(place: Place, file: Attachment, signal: AbortSignal): Promise<unknown> {
    const fileType = fileTypeOf(file);
    const bytes = await readToSend(file);
    const body = {
      file_type: fileType,
      file_data: bytes.toString("base64"),
      srv_send_msg: false,
      // With a name QQ shows a picture as a file.
      ...(isPicture(fileType) ? {} : { file_name: plainName(file.filename) }),
    };
    const call = { path: `${pathOf(place)}/files`, body, timeoutMs: this.#options.timeoutMs * 4, what: "the file" };
    const said = await this.#call(call, signal).catch((error: unknown) => {
      throw withoutMessage(error);
    });
    const { data } = uploaded.safeParse(said);
    if (data === undefined) throw new ChannelError("QQ did not say where the file is.", { retryable: true });
    return data.file_info;
  }

  async #post(place: Place, body: object, signal: AbortSignal, times = 1): Promise<Shown> {
    const { timeoutMs } = this.#options;
    const path = `${pathOf(place)}/messages`;
    const said = await this.#call({ path, body, timeoutMs: timeoutMs * times, what: "the message" }, signal);
    // What a person at QQ looks at first has no id yet.
    const { id = "waits for QQ", ext_info: more } = shown.safeParse(said).data ?? {};
    return { id, quotedAs: more?.ref_idx };
  }

  async #call(call: Omit<ApiCall, "method">, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#options.account.call({ method: "POST", ...call }, signal);
    } catch (error) {
      // The message waits until the bot is in order again.
      if (error instanceof QqRefusal && error.isAboutBot) throw new ChannelError(error.message, { retryable: true });
      throw error;
    }
  }
}

/** Which message it answers. Guilds have no numbers for replies. */
function named(slot: Slot | undefined, place?: Place): object {
  if (slot === undefined) return {};
  return { msg_id: slot.messageId, ...(place !== undefined && isOfGuild(place) ? {} : { msg_seq: slot.seq }) };
}

/** Guilds take pictures alone, with the message itself. @throws {ChannelError} for anything else */
async function guildFile(file: Attachment, slot: Slot | undefined): Promise<FormData> {
  if (!isPicture(fileTypeOf(file))) throw new ChannelError("QQ takes only png and jpg pictures in guilds.");
  const form = new FormData();
  if (slot !== undefined) form.set("msg_id", slot.messageId);
  const bytes = new Uint8Array(await readToSend(file));
  form.set("file_image", new Blob([bytes], { type: file.mimeType }), plainName(file.filename));
  return form;
}

function tooLate(place: Place, refusal: QqRefusal): ChannelError {
  const minutes = replyMinutes(place);
  return new ChannelError(
    `QQ lets a bot answer a message for ${minutes} minutes, five times at most, and this bot may not begin by itself (code ${refusal.code}). The person reads with the next answer that this one is missing.`,
  );
}
