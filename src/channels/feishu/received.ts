import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import { type FeishuFile, readContent } from "./content.js";
import { type FeishuMessage, whereOf } from "./message.js";

/** A message that another one answers. */
export interface Original {
  readonly message: FeishuMessage;
  /** What the bot had written there, where that is known: Feishu does not give the text of a card back. */
  readonly ownText: string | undefined;
}

/** What of a message the model reads besides. */
export interface Reading {
  readonly appId: string;
  readonly botId: string;
  readonly toFile: (file: FeishuFile, messageId: string) => ReceivedFile;
  readonly original?: Original | undefined;
}

const longestQuote = 400;

/** As the gateway takes it. */
export function toReceived(message: FeishuMessage, reading: Reading): ReceivedMessage {
  const { appId, botId, toFile } = reading;
  const { chatId, root } = whereOf(message);
  const { text, files, unreadable, outside } = readContent(message, botId);
  return {
    chatId,
    ...(root === undefined ? {} : { thread: root }),
    chatType: message.isDirect ? "dm" : "group",
    addressed: true,
    senderId: message.senderId,
    content: text,
    platformMessageId: message.id,
    dedupId: `feishu:${appId}:${message.id}`,
    ...(files.length === 0 ? {} : { files: files.map((file) => toFile(file, message.id)) }),
    ...(unreadable === undefined ? {} : { unreadable }),
    ...(outside === undefined ? quotedIn(message, reading) : { outside }),
  };
}

function quotedIn(
  { parent, senderId }: FeishuMessage,
  { original, appId, botId, toFile }: Reading,
): Pick<ReceivedMessage, "quoted" | "quotedFiles" | "replyTo"> {
  if (parent === undefined) return {};
  if (original === undefined) return { replyTo: parent };
  const { message, ownText } = original;
  const isOurs = message.senderId === appId || message.senderId === botId;
  const { text, files } = isOurs ? { text: ownText ?? "", files: [] } : readContent(message, botId);
  const said = text === "" ? files.map(({ filename }) => `[${filename}]`).join(" ") : text;
  if (said === "") return { replyTo: parent };
  const by = isOurs ? "assistant" : message.senderId === senderId ? "sender" : "other";
  return {
    replyTo: parent,
    quoted: { text: cutText(said, longestQuote), by },
    ...(files.length === 0 ? {} : { quotedFiles: files.map((file) => toFile(file, message.id)) }),
  };
}
