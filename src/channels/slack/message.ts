import { z } from "zod";
import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedFile, ReceivedMessage } from "../channel.js";
import { mentionedIn, mentions, type Names, toReadable } from "./text.js";

/** Slack's ids of messages: seconds and a number, which grow with time and are compared as texts. */
export const timestamp = z.string().regex(/^\d{10}\.\d{6}$/);

export const slackFile = z.looseObject({
  id: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  mimetype: z.string().nullish(),
  size: z.number().nullish(),
  /** `hosted`, `external` (elsewhere), `tombstone` (deleted), `hidden_by_limit`, … */
  mode: z.string().nullish(),
  subtype: z.string().nullish(),
  is_external: z.boolean().nullish(),
  url_private: z.string().nullish(),
  url_private_download: z.string().nullish(),
});
export type SlackFile = z.infer<typeof slackFile>;

/** A message that was shared, or that a link to a message shows. */
const sharedMessage = z.looseObject({
  is_share: z.boolean().nullish(),
  is_msg_unfurl: z.boolean().nullish(),
  author_id: z.string().nullish(),
  author_name: z.string().nullish(),
  text: z.string().nullish(),
  ts: z.string().nullish(),
  files: z.array(slackFile).nullish(),
});

/** https://docs.slack.dev/reference/events/message */
export const slackMessage = z.looseObject({
  ts: timestamp,
  subtype: z.string().nullish(),
  user: z.string().nullish(),
  bot_id: z.string().nullish(),
  text: z.string().nullish(),
  thread_ts: timestamp.nullish(),
  parent_user_id: z.string().nullish(),
  reply_count: z.number().nullish(),
  edited: z.looseObject({ ts: z.string(), user: z.string().nullish() }).nullish(),
  files: z.array(slackFile).nullish(),
  attachments: z.array(sharedMessage).nullish(),
  metadata: z.looseObject({ event_payload: z.looseObject({ id: z.string().optional() }).optional() }).nullish(),
  client_msg_id: z.string().nullish(),
});
export type SlackMessage = z.infer<typeof slackMessage>;

/** Where a message belongs. `root`: of its thread. */
export interface Where {
  readonly channel: string;
  readonly root?: string | undefined;
}

/** An ordinary message, also with files: not that somebody has joined, or pinned something. */
const talk: ReadonlySet<string | undefined> = new Set([undefined, "file_share", "thread_broadcast", "me_message"]);
const longestQuote = 400;

/** Written by a person, and not by a bot or Slack itself. */
export function isOfPerson({ user, bot_id: bot, subtype }: SlackMessage, botId: string): boolean {
  return (
    (user ?? undefined) !== undefined &&
    user !== botId &&
    user !== "USLACKBOT" &&
    !bot &&
    talk.has(subtype ?? undefined)
  );
}

export function isDirect(channel: string): boolean {
  return channel.startsWith("D");
}

/** The stream in which the message is: of its channel, or of the thread that it is a reply in. */
export function whereOf(channel: string, { ts, thread_ts: root }: SlackMessage): Where {
  return root === undefined || root === null || root === ts ? { channel } : { channel, root };
}

/**
 * The bot is meant: it is mentioned, its own message is answered, or the thread began with a mention of it and the message
 * calls nobody else.
 */
export function isAddressed(message: SlackMessage, channel: string, botId: string, isAsked: boolean): boolean {
  const text = message.text ?? "";
  if (isDirect(channel) || mentions(text, botId)) return true;
  if (mentionedIn(text).length > 0) return false;
  return message.parent_user_id === botId || isAsked;
}

/** All whose names its text needs. */
export function peopleIn({ user, text, attachments }: SlackMessage): readonly string[] {
  return [
    ...(user ? [user] : []),
    ...[text ?? "", ...(attachments ?? []).map((one) => one.text ?? "")].flatMap(mentionedIn),
  ];
}

/** What of a message the model reads besides: the first message of the thread, where it is not known yet. */
export interface Reading {
  readonly names: Names;
  readonly account: string;
  readonly toFile: (file: SlackFile) => ReceivedFile;
  readonly root?: SlackMessage | undefined;
  /** Only its text has changed: its files are left out. */
  readonly isChange?: boolean;
}

/** As the gateway takes it; undefined when there is nothing in it for anybody to read. */
export function toReceived(message: SlackMessage, channel: string, reading: Reading): ReceivedMessage | undefined {
  const { names, account, toFile, isChange = false } = reading;
  const { ts, thread_ts: root, user, text } = message;
  const all = (message.files ?? []).filter(({ mode }) => mode !== "tombstone" && mode !== "hidden_by_limit");
  const files = isChange ? [] : all.filter((file) => !isElsewhere(file)).map(toFile);
  const links = all.filter(isElsewhere).map(({ name, title, url_private: url }) => `[${name ?? title}: ${url ?? ""}]`);
  const content = [toReadable(text ?? "", names), ...links].filter((part) => part !== "").join("\n");
  const quote = isChange ? {} : quotedIn(message, reading);
  if (content === "" && files.length === 0 && quote.quoted === undefined) return undefined;
  const chatType = isDirect(channel) ? "dm" : "group";
  const thread = root ?? (chatType === "group" ? ts : undefined);
  return {
    chatId: channel,
    ...(thread === undefined ? {} : { thread }),
    chatType,
    addressed: true,
    senderId: user ?? "",
    senderName: names.nameOf(user ?? ""),
    content,
    platformMessageId: ts,
    ...(files.length === 0 ? {} : { files }),
    ...quote,
    dedupId: `slack:${account}:${channel}:${ts}`,
  };
}

/** Kept by somebody else: the bot's token is not for them. */
function isElsewhere({ is_external: external, mode }: SlackFile): boolean {
  return external === true || mode === "external";
}

/** A message that it shares, or the first one of its thread. */
function quotedIn(
  message: SlackMessage,
  reading: Reading,
): Pick<ReceivedMessage, "quoted" | "quotedFiles" | "replyTo"> {
  const shared = (message.attachments ?? []).find((one) => one.is_share === true || one.is_msg_unfurl === true);
  if (shared !== undefined) {
    const { author_id: by, author_name: name, text, ts, files } = shared;
    return quote(
      message,
      { by: by ?? "", name: name ?? undefined, text: text ?? "", ts: ts ?? undefined, files },
      reading,
    );
  }
  const { root } = reading;
  if (root === undefined || root.ts === message.ts) return {};
  const { user, text, ts, files } = root;
  return quote(message, { by: user ?? "", name: undefined, text: text ?? "", ts, files }, reading);
}

interface Original {
  readonly by: string;
  readonly name: string | undefined;
  readonly text: string;
  readonly ts: string | undefined;
  readonly files: readonly SlackFile[] | null | undefined;
}

function quote(
  { user }: SlackMessage,
  original: Original,
  { names, toFile }: Reading,
): Pick<ReceivedMessage, "quoted" | "quotedFiles" | "replyTo"> {
  const files = (original.files ?? []).filter((file) => !isElsewhere(file));
  const text = toReadable(original.text, names) || files.map(({ name }) => `[${name}]`).join(" ");
  const replyTo = original.ts === undefined ? {} : { replyTo: original.ts };
  if (text === "") return replyTo;
  const by = original.by === names.botId ? "assistant" : original.by === user ? "sender" : "other";
  const name = by === "other" ? (names.nameOf(original.by) ?? original.name) : undefined;
  return {
    ...replyTo,
    quoted: { text: cutText(text, longestQuote), by, name },
    ...(files.length === 0 || by === "assistant" ? {} : { quotedFiles: files.map(toFile) }),
  };
}
