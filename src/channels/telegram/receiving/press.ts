import { z } from "zod";
import type { ReceivedPress } from "../../channel.js";

const user = z.looseObject({
  id: z.number(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});

const callbackQuery = z.looseObject({
  id: z.string(),
  from: user,
  data: z.string(),
  // Also of a message that is too old to be given along.
  message: z.looseObject({
    chat: z.looseObject({ id: z.number(), type: z.string() }),
    is_topic_message: z.boolean().optional(),
    message_thread_id: z.number().optional(),
  }),
});

const pressUpdate = z.looseObject({ callback_query: callbackQuery });

/** A pressed button, and the id by which Telegram waits for a word about it. */
export interface TelegramPress {
  readonly callbackId: string;
  readonly press: ReceivedPress;
}

/** Reads an update that tells about a pressed button; undefined for any other. */
export function parsePress(update: unknown): TelegramPress | undefined {
  // Nearly every update is a message: no schema has to say that it is not a press.
  if (typeof update !== "object" || update === null || !("callback_query" in update)) return undefined;
  const parsed = pressUpdate.safeParse(update);
  if (!parsed.success) return undefined;
  const { id, from, data, message } = parsed.data.callback_query;
  const thread = message.is_topic_message === true ? message.message_thread_id : undefined;
  return {
    callbackId: id,
    press: {
      chatId: String(message.chat.id),
      thread: thread === undefined ? undefined : String(thread),
      chatType: message.chat.type === "private" ? "dm" : "group",
      senderId: String(from.id),
      senderName: [from.first_name, from.last_name].filter(Boolean).join(" ") || from.username,
      value: data,
    },
  };
}
