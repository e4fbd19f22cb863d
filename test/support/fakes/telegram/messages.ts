import { parseTelegramHtml } from "../../rules/telegram-entities.js";
import { type FakeFile, isObject, type Json, type Reply, refusal, success } from "./wire.js";

/** A message that the bot sent and Telegram took. */
export interface SentMessage {
  readonly messageId: number;
  readonly chatId: string;
  readonly thread?: string;
  /** As people see it: after entity parsing. */
  readonly text: string;
  /** As it came over the wire. */
  readonly raw: string;
  readonly parseMode?: string;
  readonly replyTo?: string;
  /** The inline keyboard, row by row. */
  readonly buttons?: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
  /** What came with it. `method` is the call, e.g. `sendPhoto`. */
  readonly file?: FakeFile & { readonly method: string };
  /** Unix ms of arrival. */
  readonly at: number;
}

/** What the bot has sent, and what it has made of that. */
export class Messages {
  readonly sent: SentMessage[] = [];
  readonly edited: SentMessage[] = [];
  readonly previewed: string[] = [];
  readonly #bot: Json;
  readonly #notify: () => void;
  #nextId = 1;

  constructor(bot: Json, notify: () => void) {
    this.#bot = bot;
    this.#notify = notify;
  }

  /** For a message of anybody. */
  newId(): number {
    return this.#nextId++;
  }

  send(params: Json): Reply {
    if (params.chat_id === undefined) return refusal(400, "Bad Request: chat_id is empty");
    const text = textOf(params);
    return typeof text === "string" ? this.#keep(this.sent, this.#toSent(params, text, this.newId())) : text;
  }

  sendFile(method: string, params: Json, file: FakeFile | undefined): Reply {
    if (file === undefined) return refusal(400, "Bad Request: there is no file in the request");
    if (method === "sendPhoto" && file.bytes.toString().startsWith("no image"))
      return refusal(400, "Bad Request: IMAGE_PROCESS_FAILED");
    const message = this.#toSent({ ...params, text: "" }, "", this.newId());
    return this.#keep(this.sent, { ...message, file: { ...file, method } });
  }

  edit(params: Json): Reply {
    const old = this.sent.find((message) => message.messageId === Number(params.message_id));
    if (old === undefined) return refusal(400, "Bad Request: message to edit not found");
    const text = textOf(params);
    if (typeof text !== "string") return text;
    const before = this.edited.findLast(({ messageId }) => messageId === old.messageId) ?? old;
    if (before.text === text && before.buttons === undefined)
      return refusal(400, "Bad Request: message is not modified");
    return this.#keep(this.edited, this.#toSent(params, text, old.messageId));
  }

  /** As Telegram shows a message of the bot in its answers. */
  shown(message: SentMessage): Json {
    return {
      message_id: message.messageId,
      date: Math.floor(message.at / 1000),
      chat: chatOf(message.chatId),
      from: this.#bot,
      text: message.text,
    };
  }

  #keep(list: SentMessage[], message: SentMessage): Reply {
    list.push(message);
    this.#notify();
    return success(this.shown(message));
  }

  #toSent(params: Json, text: string, messageId: number): SentMessage {
    const reply = params.reply_parameters;
    const replyTo = isObject(reply) ? reply.message_id : undefined;
    const preview = params.link_preview_options;
    // Only texts have previews: files and what is written below them have none.
    if (text !== "" && !(isObject(preview) && preview.is_disabled === true)) this.previewed.push(text);
    return {
      messageId,
      chatId: String(params.chat_id),
      text,
      raw: String(params.text),
      at: Date.now(),
      ...(params.message_thread_id === undefined ? {} : { thread: String(params.message_thread_id) }),
      ...(params.parse_mode === undefined ? {} : { parseMode: String(params.parse_mode) }),
      ...(replyTo === undefined ? {} : { replyTo: String(replyTo) }),
      ...(isObject(params.reply_markup) ? { buttons: keyboardOf(params.reply_markup) } : {}),
    };
  }
}

export function chatOf(chatId: string, type?: string): Json {
  const id = Number(chatId);
  const chatType = type ?? (id < 0 ? "supergroup" : "private");
  return chatType === "private" ? { id, type: chatType, first_name: "Chat" } : { id, type: chatType, title: "Group" };
}

/** What people see of it, or why Telegram does not take it. */
function textOf(params: Json): string | Reply {
  const raw = String(params.text ?? "");
  const parsed = params.parse_mode === "HTML" ? parseTelegramHtml(raw) : { text: raw };
  if ("error" in parsed) return refusal(400, parsed.error);
  const text = parsed.text.trim();
  if (text === "") return refusal(400, "Bad Request: message text is empty");
  if (text.length > 4096) return refusal(400, "Bad Request: message is too long");
  return text;
}

function keyboardOf(markup: Json): NonNullable<SentMessage["buttons"]> {
  const rows = Array.isArray(markup.inline_keyboard) ? markup.inline_keyboard : [];
  for (const { text, callback_data } of rows.flat() as { text: string; callback_data: string }[])
    if (!text || Buffer.byteLength(callback_data) > 64) throw new Error(`BUTTON_DATA_INVALID: ${callback_data}`);
  return rows;
}
