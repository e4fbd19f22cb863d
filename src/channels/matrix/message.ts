import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import type { Bot } from "./account.js";
import type { MatrixApi } from "./api.js";
import { type Content, latestOf, type MatrixEvent, threadOf } from "./event.js";
import { isFile, toFile } from "./files.js";

const longestQuote = 400;
/** How people begin what is for the bot, where they have not chosen its name from a list. */
const behindName = /^[\s,:：，]+/;

/** What of a message the model reads besides. */
export interface Reading {
  readonly bot: Bot;
  readonly api: MatrixApi;
  readonly roomId: string;
  readonly isDirect: boolean;
  /** The message that it answers, or the first one of a thread into which the bot is called. */
  readonly quoted?: MatrixEvent | undefined;
  /** Words behind `!` that are commands: many clients keep `/` for themselves. */
  readonly commands: readonly string[];
}

/** Whether it calls the bot by its id, or by its name in clients that do not say whom they mention. */
export function mentions({ content }: MatrixEvent, bot: Pick<Bot, "id" | "name">): boolean {
  const said = content["m.mentions"];
  if (said !== undefined) return said.user_ids?.includes(bot.id) === true;
  const { body = "", formatted_body: html = "" } = content;
  const link = `https://matrix.to/#/${bot.id}`;
  if (html.includes(`"${link}"`) || html.includes(`"${encodeURI(link)}"`)) return true;
  return body.includes(bot.id) || namesOf(bot).some((name) => startsWithName(body, name) !== undefined);
}

/** It is for somebody, and not for the bot. */
export function mentionsOthers({ content }: MatrixEvent, botId: string): boolean {
  const ids = content["m.mentions"]?.user_ids ?? [];
  return ids.length > 0 && !ids.includes(botId);
}

/** As the gateway takes it; undefined when there is nothing in it for anybody to read. */
export function toReceived(event: MatrixEvent, reading: Reading): ReceivedMessage | undefined {
  const { bot, roomId, isDirect, quoted } = reading;
  const { content, sender, event_id: id } = event;
  const thread = threadOf(event);
  // The bot compares no signs with anybody.
  if (content.msgtype === "m.key.verification.request") return undefined;
  const isSticker = event.type === "m.sticker";
  const file = isFile(content) ? toFile(content, reading.api) : undefined;
  const text = isSticker ? "" : textOf(event, reading, file);
  if (text === "" && file === undefined && !isSticker && quoted === undefined) return undefined;
  return {
    chatId: roomId,
    ...(thread === undefined ? {} : { thread }),
    chatType: isDirect ? "dm" : "group",
    addressed: true,
    senderId: sender,
    senderName: bot.rooms.nameOf(roomId, sender),
    content: text,
    platformMessageId: id,
    ...(file === undefined ? {} : { files: [file] }),
    ...(isSticker ? { unreadable: "stickers" } : {}),
    ...(quoted === undefined ? {} : quote(event, quoted, reading)),
    dedupId: `matrix:${bot.id}:${id}`,
  };
}

/** What a person has said, without the bot's name before it. */
function textOf({ content }: MatrixEvent, { bot, commands }: Reading, file: ReceivedFile | undefined): string {
  const { body = "", msgtype, filename } = content;
  // The text of a file is its name, where there is no other.
  if (file !== undefined && (filename === undefined || filename === body)) return "";
  if (msgtype === "m.location") return [body, geoOf(content)].filter((one) => one !== "").join("\n");
  const said = withoutName(withoutFallback(content), bot).trim();
  const [, word = ""] = /^!(\w+)(?=\s|$)/.exec(said) ?? [];
  if (word !== "" && commands.includes(word)) return `/${said.slice(1)}`;
  return msgtype === "m.emote" ? `* ${said}` : said;
}

function geoOf(content: Content): string {
  const { geo_uri: uri } = content;
  return typeof uri === "string" && uri.startsWith("geo:") ? uri.slice(0, 200) : "";
}

/** Older clients repeat before an answer what it answers. */
function withoutFallback({ body = "", "m.relates_to": about }: Content): string {
  if (about?.["m.in_reply_to"] === undefined || !body.startsWith("> <")) return body;
  const lines = body.split("\n");
  const first = lines.findIndex((line) => !line.startsWith(">"));
  if (first === -1) return "";
  return lines.slice(lines[first] === "" ? first + 1 : first).join("\n");
}

function namesOf({ id, name }: Pick<Bot, "id" | "name">): readonly string[] {
  const [local = id] = id.split(":");
  // The longest first: what is behind it has to begin with no word of its own.
  return [id, ...(name === undefined || name === "" ? [] : [`@${name}`, name]), local, local.slice(1)];
}

/** What is behind a name that the text begins with; undefined: it does not. */
function startsWithName(text: string, name: string): string | undefined {
  const begin = text.trimStart();
  if (begin.slice(0, name.length).toLowerCase() !== name.toLowerCase()) return undefined;
  const rest = begin.slice(name.length);
  const isCall = name.startsWith("@") ? /^(?:$|[\s,:：，])/ : /^\s*[,:：，]/;
  return isCall.test(rest) ? rest.replace(behindName, "") : undefined;
}

function withoutName(text: string, bot: Bot): string {
  for (const name of namesOf(bot)) {
    const rest = startsWithName(text, name);
    if (rest !== undefined && rest.trim() !== "") return rest;
  }
  return text;
}

function quote(
  { sender }: MatrixEvent,
  original: MatrixEvent,
  reading: Reading,
): Pick<ReceivedMessage, "quoted" | "quotedFiles" | "replyTo"> {
  const { bot, roomId, api } = reading;
  const content = latestOf(original);
  const file = isFile(content) ? toFile(content, api) : undefined;
  const text =
    textOf({ ...original, content }, { ...reading, commands: [] }, file) || (file ? `[${file.filename}]` : "");
  const replyTo = original.event_id;
  if (text === "") return { replyTo };
  const by = original.sender === bot.id ? "assistant" : original.sender === sender ? "sender" : "other";
  const name = by === "other" ? (bot.rooms.nameOf(roomId, original.sender) ?? original.sender) : undefined;
  return {
    replyTo,
    quoted: { text: cutText(text, longestQuote), by, name },
    ...(file === undefined || by === "assistant" ? {} : { quotedFiles: [file] }),
  };
}
