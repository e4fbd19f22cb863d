import type { Api } from "grammy";
import type { Attachment, Button } from "../../bus/messages.js";
import { readToSend } from "../../util/files/noted-file.js";
import { toTelegramHtml } from "../formatting/dialects/telegram-html.js";
import { toPlainText } from "../formatting/plain-text.js";
import type { GrammySignal, TelegramClient } from "./api.js";
import { isParseError, isRefusal } from "./telegram-error.js";

export interface TelegramText {
  readonly chatId: string;
  readonly thread?: string | undefined;
  readonly replyTo?: string | undefined;
  /** Markdown. */
  readonly content: string;
  readonly buttons?: readonly Button[] | undefined;
}

/** Telegram's limit, which the plain text may exceed because it writes out addresses. */
const longestMessage = 4096;

/** Nobody has clicked yet: what the model has put into an address must not reach its host by itself. */
const noPreview = { link_preview_options: { is_disabled: true } } as const;

/** Sends Markdown as Telegram HTML, or plain when Telegram cannot parse that. Resolves with the message id. */
export async function sendMarkdown(api: Api, text: TelegramText, signal: GrammySignal): Promise<string> {
  return await whereverItIs(text.chatId, (chatId) => sendTo(api, chatId, text, signal));
}

/** A group that became a supergroup has a new id from then on. */
async function whereverItIs<T>(chatId: string, send: (chatId: string) => Promise<T>): Promise<T> {
  try {
    return await send(chatId);
  } catch (error) {
    const moved = isRefusal(error) ? error.parameters.migrate_to_chat_id : undefined;
    if (moved === undefined) throw error;
    return await send(String(moved));
  }
}

const longestCaption = 1024;
/** Telegram's limit for what it shows as a photo. */
const largestPhoto = 10 * 1024 * 1024;

/**
 * Sends a file in the way in which people expect to see it. Resolves with the message id.
 *
 * @throws {ChannelError} when the file is gone; what grammY throws
 */
export async function sendFile(
  { api, upload }: TelegramClient,
  message: TelegramText & { readonly file: Attachment },
  signal: GrammySignal,
): Promise<string> {
  const { chatId, file } = message;
  const bytes = await readToSend(file);
  const caption = toPlainText(message.content, longestCaption).slice(0, longestCaption);
  const other = { ...whereOf(message), ...(caption === "" ? {} : { caption }) };
  const sent = await whereverItIs(chatId, async (chat) => {
    const input = () => upload(bytes, file.filename);
    const isPhoto = /^image\/(jpeg|png|webp)$/i.test(file.mimeType) && bytes.length <= largestPhoto;
    try {
      if (isPhoto) return await api.sendPhoto(chat, input(), other, signal);
      if (/^audio\/ogg/i.test(file.mimeType)) return await api.sendVoice(chat, input(), other, signal);
    } catch (error) {
      // It is too long, too small or no image, or who gets it wants no voice messages: as a file anything goes.
      if (!isRefusal(error) || error.error_code !== 400 || !/photo|image|voice/i.test(error.description)) throw error;
    }
    return await api.sendDocument(chat, input(), other, signal);
  });
  return String(sent.message_id);
}

async function sendTo(api: Api, chatId: string, text: TelegramText, signal: GrammySignal): Promise<string> {
  const { content } = text;
  const where = { ...whereOf(text), ...noPreview };
  try {
    const html = { ...where, parse_mode: "HTML" as const };
    return String((await api.sendMessage(chatId, toTelegramHtml(content), html, signal)).message_id);
  } catch (error) {
    if (!isParseError(error)) throw error;
    return String((await api.sendMessage(chatId, toPlainText(content, longestMessage), where, signal)).message_id);
  }
}

function whereOf({ thread, replyTo, buttons = [] }: TelegramText) {
  return {
    ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: keyboardOf(buttons) } }),
    ...(isId(thread) ? { message_thread_id: Number(thread) } : {}),
    ...(isId(replyTo)
      ? { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true as const } }
      : {}),
  };
}

/** Puts another text in place of a message's, and takes its buttons away. */
export async function editMarkdown(
  api: Api,
  message: { readonly chatId: string; readonly platformMessageId: string; readonly content: string },
  signal: GrammySignal,
): Promise<void> {
  const id = Number(message.platformMessageId);
  const { chatId, content } = message;
  try {
    const html = { parse_mode: "HTML" as const, ...noPreview };
    await api.editMessageText(chatId, id, toTelegramHtml(content), html, signal);
  } catch (error) {
    if (isUnchanged(error)) return;
    if (!isParseError(error)) throw error;
    await api.editMessageText(chatId, id, toPlainText(content, longestMessage), noPreview, signal);
  }
}

function isUnchanged(error: unknown): boolean {
  return isRefusal(error) && error.error_code === 400 && error.description.includes("message is not modified");
}

/** Short ones side by side, as many as can be read on a phone. */
function keyboardOf(buttons: readonly Button[]): { text: string; callback_data: string }[][] {
  const perRow = buttons.every(({ label }) => label.length <= 14) ? 3 : 1;
  const rows: { text: string; callback_data: string }[][] = [];
  for (const [index, { label, value }] of buttons.entries()) {
    const button = { text: label, callback_data: value };
    if (index % perRow === 0) rows.push([button]);
    else rows.at(-1)?.push(button);
  }
  return rows;
}

function isId(value: string | undefined): boolean {
  return value !== undefined && /^\d+$/.test(value);
}
