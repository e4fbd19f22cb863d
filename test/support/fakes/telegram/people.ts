import { chatOf, type SentMessage } from "./messages.js";
import type { Json } from "./wire.js";

export interface PushText {
  readonly chatId: string | number;
  readonly userId: string | number;
  readonly text: string;
  /** Default: `private` for a positive chat id, `supergroup` for a negative one. */
  readonly chatType?: "private" | "group" | "supergroup";
  readonly name?: string;
  readonly thread?: number;
  /** A message of the bot (`true` or its id), or of somebody else. */
  readonly replyTo?: { readonly messageId: number; readonly fromBot: boolean };
  readonly entities?: readonly object[];
}

export interface PushPress {
  readonly messageId: number;
  readonly label: string;
  readonly userId: string | number;
  readonly name?: string;
}

/** A message with text, as it comes in an update. */
export function textMessage(message: PushText, bot: Json): Json {
  const reply = message.replyTo;
  const chat = chatOf(String(message.chatId), message.chatType);
  return {
    chat,
    from: personOf(message.userId, message.name),
    text: message.text,
    ...(message.entities === undefined ? {} : { entities: message.entities }),
    ...(message.thread === undefined ? {} : { message_thread_id: message.thread, is_topic_message: true }),
    ...(reply === undefined
      ? {}
      : {
          reply_to_message: {
            message_id: reply.messageId,
            date: 0,
            chat,
            from: reply.fromBot ? bot : { id: 7, is_bot: false, first_name: "Bob" },
          },
        }),
  };
}

/** A press of a button below a message, as it comes in an update. */
export function callbackQuery(
  id: string,
  { label, userId, name }: PushPress,
  message: SentMessage | undefined,
  shown: (message: SentMessage) => Json,
): Json {
  const button = message?.buttons?.flat().find((one) => one.text === label);
  if (message === undefined || button === undefined) throw new Error(`There is no button ${label}`);
  const { thread } = message;
  return {
    id,
    from: personOf(userId, name),
    chat_instance: "1",
    data: button.callback_data,
    message: {
      ...shown(message),
      ...(thread === undefined ? {} : { message_thread_id: Number(thread), is_topic_message: true }),
    },
  };
}

function personOf(userId: string | number, name = `User ${userId}`): Json {
  return { id: Number(userId), is_bot: false, first_name: name };
}
