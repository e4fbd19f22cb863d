import { createHash } from "node:crypto";
import { z } from "zod";
import type { Button, OutboundMessage } from "../../bus/messages.js";
import { cutText } from "../../util/text/cut-text.js";
import type { ReceivedMessage } from "../channel.js";
import { escapeControl, toSlackMrkdwn } from "../formatting/dialects/slack-mrkdwn.js";
import { splitMarkdown } from "../formatting/split.js";
import { asDocumented } from "../wire/call.js";
import type { Bot } from "./account.js";
import { type SlackApi, title } from "./api.js";
import { type SlackMessage, timestamp } from "./message.js";
import { toMs, toTimestamp } from "./places.js";
import { readAfter } from "./receiving/history.js";
import { lengthOf, longestBlock, longestMessage } from "./shape.js";
import { codeOf } from "./slack-error.js";

const posted = z.looseObject({ ts: timestamp });

const longestLabel = 75;
/** Our clock and Slack's may differ. */
const clockSlackMs = 10_000;
/** By it we know our own messages again, in what history says about them. */
const eventType = "maxclaw_message";

/**
 * Nobody has clicked yet: what the model has put into an address must not reach its host by itself. `parse`: no word of ours
 * becomes a mention, also in an edit, where Slack's default is another.
 */
const quietly = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false } as const;

/** The same message always has the same one. Slack documents it in its errors alone, so that nothing relies on it. */
export function clientIdOf(outboundId: string): string {
  const hex = createHash("sha256").update(outboundId).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

/** As Slack shows it. */
export function toText(markdown: string, longest = longestMessage): string {
  const text = toSlackMrkdwn(markdown);
  return cutMrkdwn(text.trim() === "" ? escapeControl(markdown) : text, longest);
}

/**
 * Marks at the cuts can make a piece longer than it was measured; what is left then is better than nothing. Never half an
 * address, name of a character, or character.
 */
function cutMrkdwn(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return cutText(text, longest).replace(/<[^<>]*$|&[^;&]{0,4}$/, "");
}

/** Sends a text, with its buttons. Resolves with the id of the message. @throws {ChannelError} */
export async function postMessage(
  api: SlackApi,
  channel: string,
  message: OutboundMessage,
  ms: number,
  signal: AbortSignal,
): Promise<string> {
  const { content, buttons = [], thread } = message;
  const args = {
    channel,
    thread_ts: thread,
    text: toText(content),
    ...quietly,
    metadata: { event_type: eventType, event_payload: { id: message.id } },
    ...(buttons.length === 0 ? {} : { blocks: [...sectionsOf(content), actionsOf(buttons)] }),
  };
  try {
    const clientId = clientIdOf(message.id);
    return asDocumented(
      title,
      posted,
      await api.call("chat.postMessage", { ...args, client_msg_id: clientId }, signal, { ms }),
    ).ts;
  } catch (error) {
    // Slack has had this id, and what it was given for is not there any more.
    if (codeOf(error)?.startsWith("duplicate_") !== true) throw error;
    return asDocumented(title, posted, await api.call("chat.postMessage", args, signal, { ms })).ts;
  }
}

/** Puts another text in place of a message's, and takes its buttons away. @throws {ChannelError} */
export async function editMessage(
  api: SlackApi,
  channel: string,
  ts: string,
  content: string,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  await api.call("chat.update", { channel, ts, text: toText(content), ...quietly, blocks: [] }, signal, { ms });
}

/** A sentence for a person outside the outbound queue. @throws {ChannelError} */
export async function postNotice(
  api: SlackApi,
  { chatId, thread }: ReceivedMessage,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  await api.call("chat.postMessage", { channel: chatId, thread_ts: thread, text: toText(content), ...quietly }, signal);
}

/**
 * Looks among our own latest messages of the place for one that nobody got a word about: by the id that we have put into it,
 * a file by its name. `isKnown`: of which it is known what they are.
 *
 * @throws {ChannelError}
 */
export async function findMessage(
  api: SlackApi,
  channel: string,
  message: OutboundMessage,
  about: { readonly bot: Bot; readonly since: number; readonly isKnown: (ts: string) => boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { thread: root } = message;
  const begin = about.since - clockSlackMs;
  const after = root !== undefined && toMs(root) > begin ? root : toTimestamp(begin);
  const found = await readAfter(api, { channel, root }, after, signal, { include_all_metadata: true });
  const own = found.filter(({ user, bot_id: by }) => user === about.bot.id || (by && by === about.bot.botId));
  const [file] = message.attachments;
  if (file !== undefined) return own.findLast((one) => !about.isKnown(one.ts) && hasFile(one, file.filename))?.ts;
  const clientId = clientIdOf(message.id);
  return own.find((one) => idIn(one) === message.id || one.client_msg_id === clientId)?.ts;
}

function idIn({ metadata }: SlackMessage): string | undefined {
  return metadata?.event_payload?.id;
}

function hasFile({ files }: SlackMessage, filename: string): boolean {
  return files?.some(({ name, title }) => name === filename || title === filename) === true;
}

/** The text of a message with buttons is in blocks, and is read out from `text`. */
function sectionsOf(content: string): readonly object[] {
  const pieces = splitMarkdown(content, longestBlock, lengthOf);
  return pieces.map((piece) => ({
    type: "section",
    expand: true,
    text: { type: "mrkdwn", text: toText(piece, longestBlock), verbatim: true },
  }));
}

function actionsOf(buttons: readonly Button[]): object {
  const elements = buttons.map(({ label, value }, index) => ({
    type: "button",
    action_id: `maxclaw_${index}`,
    text: { type: "plain_text", text: cutLabel(label), emoji: false },
    value,
  }));
  return { type: "actions", elements };
}

function cutLabel(label: string): string {
  const shown = label.trim() === "" ? "…" : label;
  return shown.length <= longestLabel ? shown : `${[...shown].slice(0, longestLabel / 2 - 1).join("")}…`;
}
