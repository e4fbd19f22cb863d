import { z } from "zod";

/** Unix ms, as Feishu writes it. */
const time = z
  .string()
  .regex(/^\d{13}$/)
  .transform(Number);

/** In events the id is an object with an id of each kind, in history it is a text. */
const mentionId = z.union([z.string(), z.looseObject({ open_id: z.string().nullish() })]);
const mention = z
  .looseObject({ key: z.string(), id: mentionId.optional().catch(undefined), name: z.string().catch("") })
  .transform(({ key, id, name }) => ({ key, name, id: (typeof id === "string" ? id : id?.open_id) ?? undefined }));
export type Mention = z.output<typeof mention>;

const optionalId = z
  .string()
  .nullish()
  .transform((id) => id || undefined);
const common = {
  message_id: z.string().min(1),
  root_id: optionalId,
  parent_id: optionalId,
  thread_id: optionalId,
  create_time: time,
  chat_id: z.string().min(1),
  mentions: z.array(mention).nullish().catch(undefined),
};

/** https://open.feishu.cn/document/server-docs/im-v1/message/events/receive */
const receivedEvent = z.looseObject({
  sender: z.looseObject({ sender_id: z.looseObject({ open_id: z.string().min(1) }), sender_type: z.string() }),
  message: z.looseObject({ ...common, chat_type: z.string(), message_type: z.string(), content: z.string().catch("") }),
});

/** https://open.feishu.cn/document/server-docs/im-v1/message/list */
const listed = z.looseObject({
  ...common,
  msg_type: z.string(),
  deleted: z.boolean().nullish(),
  sender: z.looseObject({ id: z.string(), sender_type: z.string() }),
  body: z.looseObject({ content: z.string().catch("") }).nullish(),
});

/** A message as events and history have it. */
export interface FeishuMessage {
  readonly id: string;
  readonly root: string | undefined;
  readonly parent: string | undefined;
  /** Of Feishu's; history can be asked by it. */
  readonly threadId: string | undefined;
  /** Unix ms. */
  readonly at: number;
  /** Of Feishu's, also of a direct chat. */
  readonly chat: string;
  readonly isDirect: boolean;
  readonly senderId: string;
  readonly isOfPerson: boolean;
  readonly type: string;
  /** JSON, by the type. */
  readonly content: string;
  readonly mentions: readonly Mention[];
}

/** Where a message belongs. A direct chat has its person's id, as with the Go maxclaw. `root`: of its thread. */
export interface Where {
  readonly chatId: string;
  readonly root?: string | undefined;
}

export function messageInEvent(event: unknown): FeishuMessage | undefined {
  const { data } = receivedEvent.safeParse(event);
  if (data === undefined) return undefined;
  const { sender, message } = data;
  return {
    ...commonOf(message),
    isDirect: message.chat_type === "p2p",
    senderId: sender.sender_id.open_id,
    isOfPerson: sender.sender_type === "user",
    type: message.message_type,
    content: message.content,
  };
}

/** Undefined for one that was taken back, and for what is not as documented. */
export function messageInHistory(item: unknown, isDirect: boolean): FeishuMessage | undefined {
  const { data } = listed.safeParse(item);
  if (data === undefined || data.deleted === true) return undefined;
  return {
    ...commonOf(data),
    isDirect,
    senderId: data.sender.id,
    isOfPerson: data.sender.sender_type === "user",
    type: data.msg_type,
    content: data.body?.content ?? "",
  };
}

function commonOf(message: z.output<z.ZodObject<typeof common>>) {
  return {
    id: message.message_id,
    root: message.root_id,
    parent: message.parent_id,
    threadId: message.thread_id,
    at: message.create_time,
    chat: message.chat_id,
    mentions: message.mentions ?? [],
  };
}

/** What opens a thread is in it, too. */
export function whereOf({ chat, isDirect, senderId, threadId, root, id }: FeishuMessage): Where {
  const chatId = isDirect ? senderId : chat;
  return threadId === undefined ? { chatId } : { chatId, root: root ?? id };
}

export function mentionsBot({ mentions }: FeishuMessage, botId: string): boolean {
  return mentions.some(({ id }) => id === botId);
}
