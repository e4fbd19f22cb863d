import { z } from "zod";
import type { Attachment, OutboundMessage } from "../../bus/messages.js";
import { ChannelError } from "../../errors.js";
import { plainName } from "../../util/files/file-name.js";
import { readToSend } from "../../util/files/noted-file.js";
import type { Receipt, ReceivedMessage } from "../channel.js";
import { withoutMessage } from "../wire/call.js";
import type { Account, ApiCall } from "./account.js";
import { type CardContent, cardOf, markOf, uuidOf } from "./card.js";
import { FeishuRefusal } from "./feishu-error.js";
import { uploadOf } from "./files.js";
import type { Memory } from "./memory.js";
import type { Places } from "./places.js";
import { readAfter } from "./receiving/history.js";

export interface SenderOptions {
  readonly account: Account;
  readonly places: Places;
  readonly memory: Memory;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** What is posted: Feishu's kind of it, and its JSON. */
interface Body {
  readonly msg_type: string;
  readonly content: string;
  /** By which Feishu knows a repeated call. */
  readonly uuid: string;
}

type To = Pick<OutboundMessage, "chatId" | "thread" | "replyTo">;

const sent = z.looseObject({ data: z.looseObject({ message_id: z.string().min(1) }) });
const image = z.looseObject({ data: z.looseObject({ image_key: z.string().min(1) }) });
const file = z.looseObject({ data: z.looseObject({ file_key: z.string().min(1) }) });

/** So long Feishu leaves out a repeat, with room for what is under way. */
const knownForMs = 50 * 60_000;
/** Our clock and Feishu's may differ. */
const clockSlackMs = 10_000;

/** What goes out. */
export class Sender {
  readonly #options: SenderOptions;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** @throws {ChannelError} */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Receipt> {
    if (signal.aborted) throw new ChannelError("The send was aborted before it began.", { retryable: true });
    const [attachment] = message.attachments;
    const uuid = uuidOf(message.id);
    if (attachment !== undefined) {
      const body = await this.#upload(attachment, signal);
      return { platformMessageId: await this.#post(message, { ...body, uuid }, signal) };
    }
    const { content, buttons, chatId, thread, id } = message;
    const card = { content, buttons, chatId, thread, mark: markOf(id) };
    const platformMessageId = await this.#withCard(card, (written) =>
      this.#post(message, { msg_type: "interactive", content: written, uuid }, signal),
    );
    this.#options.memory.noteOwn(platformMessageId, content);
    return { platformMessageId };
  }

  /** Puts another text into a card, and takes its buttons away. @throws {ChannelError} */
  async edit(chatId: string, messageId: string, content: string, signal: AbortSignal): Promise<void> {
    await this.#withCard({ content, chatId }, async (written) => {
      const path = `/im/v1/messages/${encodeURIComponent(messageId)}`;
      await this.#call({ method: "PATCH", path, body: { content: written }, what: "to change a message" }, signal);
    });
    this.#options.memory.noteOwn(messageId, content);
  }

  /** A sentence for who wrote this, outside the outbound queue. @throws {ChannelError} */
  async tell({ chatId, thread, platformMessageId = "" }: ReceivedMessage, text: string, signal: AbortSignal) {
    const id = `notice ${platformMessageId} ${text}`;
    const about = { channel: "feishu", chatId, thread, sessionKey: "", attachments: [] };
    await this.send({ ...about, id, content: text }, signal);
  }

  /**
   * Looks for a message that may have been shown longer ago than Feishu knows a repeat. Until then it is sent again, which
   * shows it once.
   *
   * @throws {ChannelError}
   */
  async find(message: OutboundMessage, since: number, signal: AbortSignal): Promise<Receipt | undefined> {
    const { account, places, memory, now } = this.#options;
    const { chatId, thread: root } = message;
    const place = places.find(root === undefined ? { chatId } : { chatId, root });
    if (now() - since < knownForMs || place === undefined) return undefined;
    const mark = markOf(message.id);
    const [attachment] = message.attachments;
    const name = attachment === undefined ? undefined : plainName(attachment.filename);
    const found = (await readAfter(account, place, since - clockSlackMs, signal)).find(
      ({ id, isOfPerson, content }) =>
        !isOfPerson &&
        (name === undefined ? content.includes(mark) : memory.ownText(id) === undefined && hasName(content, name)),
    );
    return found === undefined ? undefined : { platformMessageId: found.id };
  }

  /** Feishu refuses some cards for what is in them: then the text goes without marks. */
  async #withCard<T>(card: CardContent, post: (written: string) => Promise<T>): Promise<T> {
    try {
      return await post(cardOf(card));
    } catch (error) {
      if (!(error instanceof FeishuRefusal) || !error.isAboutCard) throw error;
      return await post(cardOf(card, true));
    }
  }

  /** As an answer where there is something to answer, else into the chat. Resolves with the id of what is there now. */
  async #post({ chatId, thread, replyTo }: To, body: Body, signal: AbortSignal): Promise<string> {
    const answered = thread ?? replyTo;
    if (answered !== undefined) {
      try {
        return await this.#reply(answered, thread !== undefined, body, signal);
      } catch (error) {
        // Who has taken back what is answered still gets the answer.
        if (!(error instanceof FeishuRefusal) || !error.isAnsweredGone) throw error;
      }
    }
    const query = { receive_id_type: chatId.startsWith("ou_") ? "open_id" : "chat_id" };
    const call = { method: "POST", path: "/im/v1/messages", query, body: { receive_id: chatId, ...body } } as const;
    return idIn(await this.#call({ ...call, what: "a message" }, signal));
  }

  async #reply(messageId: string, isInThread: boolean, body: Body, signal: AbortSignal): Promise<string> {
    const path = `/im/v1/messages/${encodeURIComponent(messageId)}/reply`;
    const call = { method: "POST", path, what: "an answer to a message" } as const;
    try {
      return idIn(await this.#call({ ...call, body: { ...body, reply_in_thread: isInThread } }, signal));
    } catch (error) {
      if (!isInThread || !(error instanceof FeishuRefusal) || !error.hasNoThread) throw error;
      return idIn(await this.#call({ ...call, body: { ...body, reply_in_thread: false } }, signal));
    }
  }

  async #upload(attachment: Attachment, signal: AbortSignal): Promise<Pick<Body, "msg_type" | "content">> {
    const bytes = await readToSend(attachment);
    const name = plainName(attachment.filename);
    if (bytes.length === 0) throw new ChannelError(`The file ${name} is empty, and Feishu takes no empty files.`);
    const upload = uploadOf(name, bytes);
    const form = new FormData();
    const isImage = upload.kind === "image";
    if (isImage) form.set("image_type", "message");
    else {
      form.set("file_type", upload.fileType);
      form.set("file_name", name);
    }
    form.set(isImage ? "image" : "file", new Blob([new Uint8Array(bytes)]), name);
    const path = isImage ? "/im/v1/images" : "/im/v1/files";
    const timeoutMs = this.#options.timeoutMs * 4;
    const call = { method: "POST", path, body: form, timeoutMs, what: `the file ${name}` } as const;
    const said = await this.#options.account.call(call, signal).catch((error: unknown) => {
      throw withoutMessage(error);
    });
    const key = isImage ? image.safeParse(said).data?.data : file.safeParse(said).data?.data;
    if (key === undefined) throw new ChannelError("Feishu did not say where the file is.", { retryable: true });
    const content = "image_key" in key ? { image_key: key.image_key } : { file_key: key.file_key };
    return { msg_type: isImage ? "image" : upload.messageType, content: JSON.stringify(content) };
  }

  async #call(call: ApiCall, signal: AbortSignal): Promise<unknown> {
    return await this.#options.account.call({ timeoutMs: this.#options.timeoutMs, ...call }, signal);
  }
}

function idIn(said: unknown): string {
  const { data } = sent.safeParse(said);
  if (data === undefined)
    throw new ChannelError("Feishu did not say which message it has shown.", { retryable: true, outcome: "unknown" });
  return data.data.message_id;
}

function hasName(content: string, name: string): boolean {
  return content.includes(JSON.stringify(name));
}
