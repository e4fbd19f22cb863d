import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";

const user = z.looseObject({
  id: z.string(),
  username: z.string().optional(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
export type DiscordUser = z.infer<typeof user>;

const attachment = z.looseObject({
  url: z.string(),
  filename: z.string(),
  size: z.number().optional(),
  content_type: z.string().nullish(),
});
export type DiscordAttachment = z.infer<typeof attachment>;

const quotedMessage = z.looseObject({
  content: z.string().optional(),
  author: user.optional(),
  flags: z.number().optional(),
  attachments: z.array(attachment).default([]),
});

const snapshot = z.looseObject({
  message: z.looseObject({ content: z.string().optional(), attachments: z.array(attachment).optional() }),
});

/** https://discord.com/developers/docs/resources/message#message-object */
export const discordMessage = z.looseObject({
  id: z.string().regex(/^\d+$/),
  channel_id: z.string(),
  /** Absent in direct messages, and in what is read from history. */
  guild_id: z.string().optional(),
  type: z.number().optional(),
  author: user,
  webhook_id: z.string().optional(),
  content: z.string().default(""),
  nonce: z.union([z.string(), z.number()]).nullish(),
  edited_timestamp: z.string().nullish(),
  flags: z.number().optional(),
  mentions: z.array(user).default([]),
  attachments: z.array(attachment).default([]),
  sticker_items: z.array(z.unknown()).optional(),
  poll: z.looseObject({ question: z.looseObject({ text: z.string().optional() }) }).nullish(),
  message_reference: z.looseObject({ type: z.number().optional(), message_id: z.string().optional() }).nullish(),
  referenced_message: quotedMessage.nullish(),
  message_snapshots: z.array(snapshot).optional(),
  /** Set by us: it was not as documented, and only what is there could be read. */
  unreadable: z.literal(true).optional(),
});
export type DiscordMessage = z.infer<typeof discordMessage>;

const bareMessage = discordMessage
  .pick({ id: true, channel_id: true, author: true, type: true, webhook_id: true })
  .extend({
    guild_id: z.string().optional().catch(undefined),
    // Only to know whether it is for us.
    content: z.string().catch(""),
    mentions: z.array(user).catch([]),
    edited_timestamp: z.string().nullish().catch(undefined),
  });

/**
 * A message that is not as documented, as far as its sender can be told so; undefined where nobody waits for a word. What
 * cannot be read of it is left out.
 */
export function unreadableMessage(data: unknown): DiscordMessage | undefined {
  const { data: bare } = bareMessage.safeParse(data);
  return bare === undefined ? undefined : discordMessage.parse({ ...pickBare(bare), unreadable: true });
}

function pickBare({
  id,
  channel_id,
  author,
  type,
  webhook_id,
  guild_id,
  content,
  mentions,
  edited_timestamp,
}: z.infer<typeof bareMessage>) {
  return { id, channel_id, author, type, webhook_id, guild_id, content, mentions, edited_timestamp };
}

/** Where a message belongs, as the rest of the gateway sees it. */
export interface Where {
  readonly chatId: string;
  readonly thread?: string | undefined;
  readonly chatType: "dm" | "group";
}

/** An ordinary message or a reply: not that somebody has joined, or pinned something. */
const talk: ReadonlySet<number> = new Set([0, 19]);
const voiceFlag = 1 << 13;
const forwarded = 1;
const longestQuote = 400;

/**
 * With the bot's name instead of its role's: Discord makes one for each bot, called like the bot, and people pick it
 * from the list as often as the bot itself.
 */
export function withOwnName(message: DiscordMessage, botId: string, roles: ReadonlySet<string>): DiscordMessage {
  const content = message.content.replace(/<@&(\d+)>/g, (whole, role: string) =>
    roles.has(role) ? `<@${botId}>` : whole,
  );
  return { ...message, content };
}

/** Written by a person, and not by a bot, a webhook or Discord itself. */
export function isOfPerson(message: DiscordMessage): boolean {
  return message.author.bot !== true && message.webhook_id === undefined && talk.has(message.type ?? 0);
}

/** The bot was mentioned by name or replied to. */
export function isAddressed(message: DiscordMessage, botId: string): boolean {
  return mentionOf(botId).test(message.content) || isAnswerTo(message, botId);
}

function mentionOf(userId: string): RegExp {
  return new RegExp(`<@!?${userId}>`);
}

function isAnswerTo({ referenced_message: original, message_reference: reference }: DiscordMessage, botId: string) {
  return reference?.type !== forwarded && original?.author?.id === botId;
}

export function nameOf({ global_name: shown, username }: DiscordUser): string | undefined {
  return shown ?? username;
}

export type ToFile = (file: DiscordAttachment, isVoice: boolean) => ReceivedFile;

/** As the gateway takes it; undefined when there is nothing in it for anybody to read. Without `toFile` its files stay out. */
export function toReceived(
  message: DiscordMessage,
  where: Where,
  botId: string,
  toFile?: ToFile,
): ReceivedMessage | undefined {
  const { author, id, message_reference: reference, sticker_items: stickers = [] } = message;
  const isForwarded = reference?.type === forwarded;
  const unreadable = message.unreadable ? "this message, because Discord sent it in an unknown form" : undefined;
  const carried = (message.message_snapshots ?? []).map((one) => one.message);
  const texts = carried.map((one) => one.content ?? "");
  const content = unreadable === undefined ? contentOf(message, texts, botId) : "";
  const files = toFile === undefined ? [] : filesOf(message, toFile);
  const isSticker = stickers.length > 0;
  const kind = unreadable ?? (isSticker ? "stickers" : undefined);
  if (content === "" && files.length === 0 && kind === undefined) return undefined;
  return {
    ...where,
    senderId: author.id,
    senderName: nameOf(author),
    content,
    addressed: where.chatType === "dm" || isAddressed(message, botId),
    platformMessageId: id,
    ...(files.length === 0 ? {} : { files }),
    ...(kind === undefined ? {} : { unreadable: kind }),
    ...(isForwarded ? { outside: "a forwarded message" } : quotedIn(message, botId, toFile)),
    dedupId: `discord:${botId}:${id}`,
  };
}

/** Its own, and those that were forwarded. */
function filesOf(message: DiscordMessage, toFile: ToFile): readonly ReceivedFile[] {
  const carried = (message.message_snapshots ?? []).flatMap((one) => one.message.attachments ?? []);
  return [...message.attachments, ...carried].map((file) => toFile(file, isVoice(message)));
}

function isVoice({ flags = 0 }: { readonly flags?: number | undefined }): boolean {
  return (flags & voiceFlag) !== 0;
}

/** The message that it replies to, with its files: "@bot sum this up" below somebody's PDF. */
function quotedIn(
  message: DiscordMessage,
  botId: string,
  toFile: ToFile | undefined,
): Pick<ReceivedMessage, "quoted" | "quotedFiles" | "replyTo"> {
  const { referenced_message: original, message_reference: reference, author } = message;
  const replyTo = reference?.message_id;
  const attachments = original?.attachments ?? [];
  const text = original?.content || attachments.map(({ filename }) => `[${filename}]`).join(" ");
  if (original === undefined || original === null || text === "") return replyTo === undefined ? {} : { replyTo };
  const by = original.author?.id === botId ? "assistant" : original.author?.id === author.id ? "sender" : "other";
  const name = by === "other" && original.author !== undefined ? nameOf(original.author) : undefined;
  const quotedFiles = toFile === undefined ? [] : attachments.map((file) => toFile(file, isVoice(original)));
  return {
    replyTo,
    quoted: { text: cutText(text, longestQuote), by, name },
    ...(quotedFiles.length === 0 ? {} : { quotedFiles }),
  };
}

function contentOf(message: DiscordMessage, carried: readonly string[], botId: string): string {
  const { poll } = message;
  const parts = [
    ...(message.message_reference?.type === forwarded ? ["[forwarded]", ...carried] : []),
    ...(poll === undefined || poll === null ? [] : [`[poll: ${poll.question.text ?? ""}]`]),
    readable(message, botId),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** Without the bot's name, unless that is all there is, and with other people's names instead of their ids. */
function readable({ content, mentions }: DiscordMessage, botId: string): string {
  const own = new RegExp(mentionOf(botId).source, "g");
  const stripped = content
    .replace(new RegExp(`^\\s*${own.source}[\\s,:]*`), "")
    .replace(own, "")
    .trim();
  const names = new Map(mentions.map((one) => [one.id, nameOf(one)]));
  const text = stripped === "" ? content.replace(own, "@you") : stripped;
  return text.replace(/<@!?(\d+)>/g, (whole, id: string) => {
    const name = names.get(id);
    return name === undefined ? whole : `@${name}`;
  });
}
