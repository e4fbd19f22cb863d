import { z } from "zod";
import { cutText } from "../../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../../channel.js";
import { fileOf, type TelegramFile } from "../files.js";
import { noteOf, unknownKind } from "./kinds.js";
import { readRich, withAddress } from "./rich.js";

const user = z.looseObject({
  id: z.number(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});

const entity = z.looseObject({
  type: z.string(),
  offset: z.number(),
  length: z.number(),
  user: user.optional(),
  /** Of a `text_link`: the address that the text does not show. */
  url: z.string().optional(),
});

const chat = z.looseObject({ id: z.number(), type: z.string(), title: z.string().optional() });

const quotedMessage = z.looseObject({
  from: user.optional(),
  sender_chat: chat.optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
  rich_message: z.unknown().optional(),
});

const message = z.looseObject({
  message_id: z.number(),
  chat,
  from: user.optional(),
  sender_chat: chat.optional(),
  is_topic_message: z.boolean().optional(),
  message_thread_id: z.number().optional(),
  text: z.string().optional(),
  caption: z.string().optional(),
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
  /** Since Bot API 10.1: a message of headings, tables, files and more. */
  rich_message: z.unknown().optional(),
  reply_to_message: quotedMessage.extend({ message_id: z.number() }).optional(),
  /** The same from another chat. */
  external_reply: quotedMessage
    .extend({ origin: z.looseObject({ sender_user: user.optional() }).optional() })
    .optional(),
  /** The part of it that was marked. */
  quote: z.looseObject({ text: z.string(), entities: z.array(entity).optional() }).optional(),
  media_group_id: z.string().optional(),
  sticker: z.unknown().optional(),
  location: z.unknown().optional(),
  forward_origin: z.unknown().optional(),
});

type TelegramMessage = z.infer<typeof message>;
type Entity = z.infer<typeof entity>;

/** Who the bot is, as getMe says. */
export interface BotIdentity {
  readonly id: number;
  readonly username: string;
}

/** A Telegram update as a message, or why there is none in it. */
export type ParsedUpdate =
  | {
      readonly message: ReceivedMessage;
      /** Set for the parts of an album, which come as messages of their own. */
      readonly album?: string | undefined;
      /** What in it is not as documented, when nothing of it can be read: its kind and its fault. */
      readonly damage?: string;
    }
  | { readonly ignored: string };

const envelope = z.looseObject({ message: z.unknown().optional(), edited_message: z.unknown().optional() });

/**
 * Reads one update of getUpdates: new and edited messages of people. Service messages and bots are ignored.
 * `toFile` makes a file that can be read of what Telegram says about one.
 */
export function parseUpdate(
  update: unknown,
  updateId: number,
  bot: BotIdentity,
  toFile: (file: TelegramFile) => ReceivedFile,
): ParsedUpdate {
  const found = envelope.safeParse(update).data ?? {};
  const isEdit = found.message === undefined;
  const inner = found.message ?? found.edited_message;
  if (inner === undefined) return { ignored: "it holds no message" };
  const parsed = message.safeParse(inner);
  if (!parsed.success) return damaged(inner, z.prettifyError(parsed.error), isEdit, { bot, updateId });
  const received = parsed.data;
  const sender = senderOf(received);
  if (sender === undefined) return { ignored: "it has no human sender" };
  if (isEdit && received.location !== undefined) return { ignored: "somebody whose location is followed has moved" };
  const rich = readRich(received.rich_message);
  const content = contentOf(received, bot, rich?.text);
  const files = isEdit ? [] : [received, ...(rich?.media ?? [])].flatMap((part) => fileOf(part) ?? []);
  const isEmpty = content === "" && files.length === 0;
  const unreadable =
    received.sticker !== undefined ? "stickers" : isEmpty && !isEdit ? unknownKind(received) : undefined;
  if (isEmpty && unreadable === undefined) return { ignored: "it has no content" };
  const isGroup = received.chat.type !== "private";
  return {
    album: isEdit ? undefined : received.media_group_id,
    message: {
      chatId: String(received.chat.id),
      chatType: isGroup ? "group" : "dm",
      thread: threadOf(received),
      senderId: sender.id,
      senderName: sender.name,
      content,
      addressed: !isGroup || isAddressed(received, bot),
      platformMessageId: String(received.message_id),
      replyTo: replyOf(received),
      ...(files.length === 0 ? {} : { files: files.map(toFile) }),
      ...(unreadable === undefined ? {} : { unreadable }),
      ...(isEdit ? { change: "edited" as const } : {}),
      ...quotedIn(received, sender.id, bot, isEdit ? undefined : toFile),
      ...(received.forward_origin === undefined ? {} : { outside: "a forwarded message" }),
      dedupId: `telegram:${bot.id}:${updateId}`,
    },
  };
}

/** What of a message has to be there to tell its sender that the rest cannot be read. */
const outside = message.pick({ message_id: true, chat: true, from: true, sender_chat: true }).extend({
  // Only to know whether it is for us: whatever of it is not as documented is not.
  text: z.string().optional().catch(undefined),
  caption: z.string().optional().catch(undefined),
  entities: z.array(entity).optional().catch(undefined),
  caption_entities: z.array(entity).optional().catch(undefined),
  reply_to_message: z.looseObject({ message_id: z.number(), from: user.optional() }).optional().catch(undefined),
  is_topic_message: z.boolean().optional().catch(undefined),
  message_thread_id: z.number().optional().catch(undefined),
});

/** Somebody has sent it, and waits for a word. */
function damaged(
  inner: unknown,
  why: string,
  isEdit: boolean,
  { bot, updateId }: { readonly bot: BotIdentity; readonly updateId: number },
): ParsedUpdate {
  const { data: received } = outside.safeParse(inner);
  const sender = received === undefined ? undefined : senderOf(received);
  if (received === undefined || sender === undefined || isEdit) return { ignored: `it is not as documented: ${why}` };
  const isGroup = received.chat.type !== "private";
  const unreadable = unknownKind(received) ?? "this message, because Telegram sent it in an unknown form";
  return {
    damage: `${unreadable}: ${why}`,
    message: {
      chatId: String(received.chat.id),
      chatType: isGroup ? "group" : "dm",
      thread: threadOf(received),
      senderId: sender.id,
      senderName: sender.name,
      content: "",
      addressed: !isGroup || isAddressed(received, bot),
      platformMessageId: String(received.message_id),
      unreadable,
      dedupId: `telegram:${bot.id}:${updateId}`,
    },
  };
}

const ofChat = z.object({ chat: z.object({ id: z.number() }) });

/** The chat that an update belongs to, as far as it names one. */
export function chatOf(update: unknown): string {
  const { message: fresh, edited_message: edited } = envelope.safeParse(update).data ?? {};
  return String(ofChat.safeParse(fresh ?? edited).data?.chat.id ?? "");
}

const longestQuote = 400;

/** What the message answers, as far as Telegram gives it along: its text, and the file that it brought. */
function quotedIn(
  received: TelegramMessage,
  senderId: string,
  bot: BotIdentity,
  toFile: ((file: TelegramFile) => ReceivedFile) | undefined,
): Pick<ReceivedMessage, "quoted" | "quotedFiles"> {
  const { external_reply: elsewhere, quote } = received;
  const original = elsewhere ?? (replyOf(received) === undefined ? undefined : received.reply_to_message);
  if (original === undefined) return {};
  const file = fileOf(original);
  const whole =
    original.rich_message === undefined ? withLinks(textOf(original)) : readRich(original.rich_message)?.text;
  const said = quote === undefined ? whole : withLinks({ text: quote.text, entities: quote.entities ?? [] });
  const text = [file === undefined ? undefined : `[${file.filename}]`, said].filter(Boolean).join("\n");
  if (text === "") return {};
  const author = senderOf(elsewhere === undefined ? original : { from: elsewhere.origin?.sender_user });
  const isBot = original.from?.id === bot.id;
  const by = isBot ? "assistant" : author?.id === senderId ? "sender" : "other";
  return {
    quoted: { text: cutText(text, longestQuote), by, name: by === "other" ? author?.name : undefined },
    ...(file === undefined || toFile === undefined ? {} : { quotedFiles: [toFile(file)] }),
  };
}

function senderOf(
  received: Partial<Pick<TelegramMessage, "sender_chat" | "from">>,
): { readonly id: string; readonly name: string | undefined } | undefined {
  const { sender_chat: asChat, from } = received;
  // Anonymous admins and channels all write as the same bot user: only the chat they write as tells them apart.
  if (asChat !== undefined) return { id: String(asChat.id), name: asChat.title };
  if (from === undefined || from.is_bot === true) return undefined;
  const name = [from.first_name, from.last_name].filter(Boolean).join(" ") || from.username;
  return { id: String(from.id), name };
}

/** In a group without topics a reply has a thread id too, which is not a conversation of its own. */
function threadOf(received: Pick<TelegramMessage, "is_topic_message" | "message_thread_id">): string | undefined {
  const thread = received.is_topic_message === true ? received.message_thread_id : undefined;
  return thread === undefined ? undefined : String(thread);
}

/** Each message of a topic "replies" to the message that opened the topic, unless it replies to another. */
function replyOf(
  received: Pick<TelegramMessage, "is_topic_message" | "message_thread_id"> & {
    readonly reply_to_message?: { readonly message_id: number } | undefined;
  },
): string | undefined {
  const id = received.reply_to_message?.message_id;
  return id === undefined || String(id) === threadOf(received) ? undefined : String(id);
}

function isAddressed(received: z.infer<typeof outside>, bot: BotIdentity): boolean {
  const { text, entities } = textOf(received);
  if (entities.some((one) => namesBot(one, text, bot))) return true;
  // A rich message brings no entities.
  const words: readonly string[] = readRich(received.rich_message)?.text.toLowerCase().match(/@\w+/g) ?? [];
  if (words.includes(`@${bot.username.toLowerCase()}`)) return true;
  return replyOf(received) !== undefined && received.reply_to_message?.from?.id === bot.id;
}

interface Marked {
  readonly text: string;
  readonly entities: readonly Entity[];
}

function textOf(received: z.infer<typeof quotedMessage>): Marked {
  return received.text !== undefined
    ? { text: received.text, entities: received.entities ?? [] }
    : { text: received.caption ?? "", entities: received.caption_entities ?? [] };
}

function namesBot(one: Entity, text: string, bot: BotIdentity): boolean {
  if (one.type === "text_mention") return one.user?.id === bot.id;
  const name = `@${bot.username.toLowerCase()}`;
  // Offsets count UTF-16 units, as JavaScript does.
  const covered = text.slice(one.offset, one.offset + one.length).toLowerCase();
  return one.type === "mention" ? covered === name : one.type === "bot_command" && covered.endsWith(name);
}

/** Empty when there is nothing that a model could read. */
function contentOf(received: TelegramMessage, bot: BotIdentity, rich: string | undefined): string {
  const note = noteOf(received);
  const text = rich ?? withoutMention(received, bot);
  if (note === undefined && text.trim() === "") return "";
  const parts = [received.forward_origin === undefined ? undefined : "[forwarded]", note, text];
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

/** The text without the bot's name, unless the name is all there is. `/help@bot` becomes `/help`. */
function withoutMention(received: TelegramMessage, bot: BotIdentity): string {
  const { text, entities } = textOf(received);
  let stripped = text;
  const marked = entities.filter((each) => namesBot(each, text, bot) || each.type === "text_link");
  for (const one of marked.sort((a, b) => b.offset - a.offset)) {
    const end = one.offset + one.length;
    if (one.type === "text_link") {
      stripped = linked(stripped, one);
      continue;
    }
    const start = one.type === "bot_command" ? end - bot.username.length - 1 : one.offset;
    const before = stripped.slice(0, start);
    const after = stripped.slice(end);
    stripped = /(^|\s)$/.test(before) ? before + after.replace(/^[\s,:]+/, "") : before + after;
  }
  return stripped.trim() === "" ? text : stripped.trim();
}

/** With the addresses that its links hide, so that the model and the rules about addresses see them. */
function withLinks({ text, entities }: Marked): string {
  return entities
    .filter(({ type }) => type === "text_link")
    .sort((a, b) => b.offset - a.offset)
    .reduce(linked, text);
}

/** The text with the address of a link behind its words. */
function linked(text: string, { offset, length, url }: Entity): string {
  if (url === undefined) return text;
  const end = offset + length;
  return text.slice(0, offset) + withAddress(text.slice(offset, end), url) + text.slice(end);
}
