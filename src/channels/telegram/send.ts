import type { Api } from "grammy";
import type { Button } from "../../bus/messages.js";
import { toPlainText } from "../formatting/plain-text.js";
import { toTelegramHtml } from "../formatting/telegram-html.js";
import type { GrammySignal } from "./api.js";
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

/** Sends Markdown as Telegram HTML, or plain when Telegram cannot parse that. Resolves with the message id. */
export async function sendMarkdown(api: Api, text: TelegramText, signal: GrammySignal): Promise<string> {
  try {
    return await sendTo(api, text.chatId, text, signal);
  } catch (error) {
    // A group that became a supergroup has a new id from then on.
    const moved = isRefusal(error) ? error.parameters.migrate_to_chat_id : undefined;
    if (moved === undefined) throw error;
    return sendTo(api, String(moved), text, signal);
  }
}

async function sendTo(api: Api, chatId: string, text: TelegramText, signal: GrammySignal): Promise<string> {
  const { thread, replyTo, content, buttons = [] } = text;
  const where = {
    ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: keyboardOf(buttons) } }),
    ...(isId(thread) ? { message_thread_id: Number(thread) } : {}),
    ...(isId(replyTo)
      ? { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true as const } }
      : {}),
  };
  try {
    const html = { ...where, parse_mode: "HTML" as const };
    return String((await api.sendMessage(chatId, toTelegramHtml(content), html, signal)).message_id);
  } catch (error) {
    if (!isParseError(error)) throw error;
    return String((await api.sendMessage(chatId, toPlainText(content, longestMessage), where, signal)).message_id);
  }
}

/** Puts another text in the place of a message's, and takes its buttons away. */
export async function editMarkdown(
  api: Api,
  message: { readonly chatId: string; readonly platformMessageId: string; readonly content: string },
  signal: GrammySignal,
): Promise<void> {
  const id = Number(message.platformMessageId);
  const { chatId, content } = message;
  try {
    await api.editMessageText(chatId, id, toTelegramHtml(content), { parse_mode: "HTML" }, signal);
  } catch (error) {
    if (!isParseError(error)) throw error;
    await api.editMessageText(chatId, id, toPlainText(content, longestMessage), {}, signal);
  }
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
