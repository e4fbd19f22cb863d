import { z } from "zod";
import type { Quoted } from "../../bus/messages.js";
import { mimeTypeOf } from "../../util/files/content-types.js";
import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import { chatIdOf, chatTypeOf, type Place } from "./places.js";

const attachment = z.looseObject({
  content_type: z.string().catch(""),
  filename: z.string().catch(""),
  size: z.number().optional().catch(undefined),
  url: z.string(),
  /** Of a spoken note: the same as a file that everybody can play, and what QQ has heard in it. */
  voice_wav_url: z.string().optional().catch(undefined),
  asr_refer_text: z.string().optional().catch(undefined),
});

/** https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/send-receive/event.html */
const qqMessage = z.looseObject({
  id: z.string().min(1),
  content: z.string().catch(""),
  timestamp: z.string().catch(""),
  author: z.looseObject({
    id: z.string().optional().catch(undefined),
    username: z.string().optional().catch(undefined),
    bot: z.boolean().optional().catch(undefined),
    user_openid: z.string().optional(),
    member_openid: z.string().optional(),
  }),
  group_openid: z.string().optional(),
  channel_id: z.string().optional(),
  guild_id: z.string().optional(),
  attachments: z.array(attachment).nullish().catch(undefined),
  message_type: z.number().optional().catch(undefined),
  message_scene: z
    .looseObject({ ext: z.array(z.string()).optional() })
    .nullish()
    .catch(undefined),
  msg_elements: z
    .array(z.looseObject({ content: z.string().catch(""), attachments: z.array(attachment).nullish() }))
    .nullish()
    .catch(undefined),
});

export type QqMessage = z.output<typeof qqMessage>;
type Attachment = z.output<typeof attachment>;
export type ToFile = (url: string) => ReceivedFile["read"];

/** Which message a quoted one is, as far as it is known; by QQ's short id for quotes. */
export type QuotedBy = (shortId: string) => Quoted["by"] | undefined;

/** Events that bring a message for the bot, and where it was written. */
const kinds: Readonly<Record<string, Place["kind"]>> = {
  C2C_MESSAGE_CREATE: "user",
  GROUP_AT_MESSAGE_CREATE: "group",
  AT_MESSAGE_CREATE: "channel",
  DIRECT_MESSAGE_CREATE: "guild-dm",
};

const types = { forwarded: 102, quoting: 103 } as const;
const longestQuote = 400;
const longestFace = 4096;

export interface Arrived {
  readonly received: ReceivedMessage;
  /** Unix ms. */
  readonly at: number;
  readonly guildId: string | undefined;
  /** By which a later message quotes this one. */
  readonly quotedAs: string | undefined;
}

export function isMessageEvent(type: string): boolean {
  return Object.hasOwn(kinds, type);
}

/** As the gateway takes it; undefined for what nobody has written, and for what is not as documented. */
export function readMessage(
  type: string,
  data: unknown,
  appId: string,
  known: { readonly botId: string | undefined; readonly quotedBy: QuotedBy; readonly toFile: ToFile },
): Arrived | undefined {
  const message = qqMessage.safeParse(data).data;
  const kind = kinds[type];
  if (message === undefined || kind === undefined || message.author.bot === true) return undefined;
  const where = whereOf(kind, message);
  if (where === undefined) return undefined;
  const { id, timestamp, author } = message;
  const files = (message.attachments ?? []).map((one) => toReceivedFile(one, known.toFile));
  const content = contentOf(message, known.botId);
  const ext = message.message_scene?.ext ?? [];
  const time = Date.parse(timestamp);
  return {
    at: Number.isFinite(time) ? time : Date.now(),
    guildId: kind === "guild-dm" ? message.guild_id : undefined,
    quotedAs: valueIn(ext, "msg_idx"),
    received: {
      ...where,
      senderName: author.username,
      content,
      // QQ brings what is written to the bot, and nothing else.
      addressed: true,
      platformMessageId: id,
      dedupId: `qq:${appId}:${id}`,
      ...(files.length === 0 ? {} : { files }),
      ...(content === "" && files.length === 0 ? { unreadable: "this kind of message" } : {}),
      ...(message.message_type === types.forwarded ? { outside: "a forwarded message" } : quotedIn(message, known)),
    },
  };
}

function whereOf(
  kind: Place["kind"],
  { author, group_openid: groupId, channel_id: channelId, guild_id: guildId }: QqMessage,
): Pick<ReceivedMessage, "chatId" | "chatType" | "senderId"> | undefined {
  const senderId = author.user_openid ?? author.member_openid ?? author.id;
  if (senderId === undefined || senderId === "") return undefined;
  const chatType = chatTypeOf(kind);
  if (kind === "user" || (kind === "guild-dm" && guildId !== undefined))
    return { chatId: senderId, chatType, senderId };
  const id = kind === "group" ? groupId : channelId;
  if (id === undefined || kind === "guild-dm") return undefined;
  return { chatId: chatIdOf({ kind, id }), chatType, senderId };
}

/** What was written, or else what QQ has heard in a spoken note. */
function contentOf({ content, attachments }: QqMessage, botId: string | undefined): string {
  const own = botId === undefined ? content : content.replaceAll(`<@!${botId}>`, "").replaceAll(`<@${botId}>`, "");
  const written = withFaces(own).trim();
  if (written !== "") return written;
  return (attachments ?? [])
    .flatMap(({ asr_refer_text: heard }) => heard ?? [])
    .join("\n")
    .trim();
}

/** `<faceType=1,faceId="13",ext="…">` with the face's name, e.g. `[呲牙]`. */
function withFaces(content: string): string {
  return content.replace(/<faceType=\d+,faceId="[^"]*",ext="([^"]*)">/g, (_face, ext: string) => faceName(ext));
}

const face = z.looseObject({ text: z.string() });

function faceName(ext: string): string {
  if (ext.length > longestFace) return "[emoji]";
  try {
    const { text } = face.parse(JSON.parse(Buffer.from(ext, "base64").toString("utf8")));
    return text.startsWith("[") ? text : `[${text}]`;
  } catch {
    // Faces without a name.
    return "[emoji]";
  }
}

function quotedIn(
  { message_type: type, message_scene: scene, msg_elements: elements, author }: QqMessage,
  { quotedBy, toFile }: { readonly quotedBy: QuotedBy; readonly toFile: ToFile },
): Pick<ReceivedMessage, "quoted" | "quotedFiles"> {
  const original = type === types.quoting ? elements?.[0] : undefined;
  if (original === undefined) return {};
  const attachments = original.attachments ?? [];
  const text = withFaces(original.content).trim() || attachments.map(({ filename }) => `[${filename}]`).join(" ");
  if (text === "") return {};
  const shortId = valueIn(scene?.ext ?? [], "ref_msg_idx");
  // In a private chat it is the bot's or the person's own: the gateway looks whether the assistant has said it.
  const by = (shortId === undefined ? undefined : quotedBy(shortId)) ?? (author.user_openid ? "assistant" : "other");
  const quotedFiles = attachments.map((one) => toReceivedFile(one, toFile));
  return { quoted: { text: cutText(text, longestQuote), by }, ...(quotedFiles.length === 0 ? {} : { quotedFiles }) };
}

function valueIn(ext: readonly string[], key: string): string | undefined {
  const found = ext
    .find((one) => one.startsWith(`${key}=`))
    ?.slice(key.length + 1)
    .trim();
  return found === "" ? undefined : found;
}

function toReceivedFile(
  { url, filename, size, content_type: type, ...voice }: Attachment,
  toFile: ToFile,
): ReceivedFile {
  const isVoice = type === "voice" || type.startsWith("audio/");
  // What QQ has heard is the message's text already.
  const isToBeHeard = isVoice && (voice.asr_refer_text ?? "") === "";
  const playable = isVoice ? voice.voice_wav_url : undefined;
  const name = filename === "" ? (isVoice ? "voice" : "file") : filename;
  const named = playable === undefined ? name : `${name.replace(/\.[^.]*$/, "")}.wav`;
  return {
    filename: named,
    mimeType: playable === undefined && type.includes("/") ? type : mimeTypeOf(named),
    sizeBytes: playable === undefined ? size : undefined,
    isVoice: isToBeHeard || undefined,
    read: toFile(withScheme(playable ?? url)),
  };
}

function withScheme(url: string): string {
  if (url.startsWith("//")) return `https:${url}`;
  return /^https?:\/\//i.test(url) ? url : `https://${url}`;
}
