import type { Work } from "../engine/engine.js";
import { clientChannels } from "../events/session-key.js";
import { newId } from "../util/ids.js";
import { cutText } from "../util/text/cut-text.js";
import { cutReply } from "./long-reply.js";
import { outboundWork } from "./message-bus.js";
import type { Attachment, ChatPlace, InboundMessage } from "./messages.js";

/** The part of a channel that says what one platform message can hold. */
export interface Shape {
  split(content: string): readonly string[];
  readonly maxButtons?: number;
  readonly files?: "apart" | "together";
  readonly maxFileBytes?: number;
  readonly maxMessages?: number;
  readonly namesAnswered?: boolean;
}

/** Several people may write in this message's chat. */
export function isGroup(message: Pick<InboundMessage, "channel" | "chatId" | "senderId">): boolean {
  return !clientChannels.has(message.channel) && message.chatId !== message.senderId;
}

/** Where the answer to this message is sent; undefined where people read the session's events themselves. */
export function destinationOf(message: InboundMessage): ChatPlace | undefined {
  return clientChannels.has(message.channel) ? message.answersTo : message;
}

/**
 * The platform messages that show `content` and the files in the chat of `message`, in order. None for the web page and
 * the terminal, unless the answer is wanted in the session's own chat too: there it comes below what was asked. In a group the first one answers the message. A
 * channel that is off at the moment gets its reply when it is back. The ids of what comes of one `replyId` are always
 * the same.
 */
export function repliesOf(
  channel: Shape | undefined,
  message: InboundMessage,
  replyId: string,
  content: string,
  turnId: string,
  attachments: readonly Attachment[] = [],
): readonly Work<"outbound">[] {
  const isForNobody = message.internal === true && message.silence?.word === undefined;
  const destination = destinationOf(message);
  if (destination === undefined || isForNobody) return [];
  const { channel: name, chatId, thread } = destination;
  const isBelow = destination !== message && message.content.trim() !== "";
  const shown = isBelow ? `${quoteOf(message.content)}\n\n${content}` : content;
  return toPieces(channel, shown, attachments).map((piece, index) =>
    outboundWork({
      id: `${replyId}#${index + 1}`,
      channel: name,
      chatId,
      thread,
      sessionKey: message.sessionKey,
      replyTo:
        (isGroup(message) || channel?.namesAnswered === true) && index === 0 ? message.platformMessageId : undefined,
      ...piece,
      turnId,
      correlationId: message.id,
      queuedEventId: newId("evt"),
    }),
  );
}

/** Who reads the chat there has not seen the question. */
function quoteOf(text: string): string {
  return cutText(text.trim(), longestQuote)
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

interface Piece {
  readonly content: string;
  readonly attachments: readonly Attachment[];
}

function toPieces(channel: Shape | undefined, content: string, attachments: readonly Attachment[]): readonly Piece[] {
  const { maxFileBytes = Number.POSITIVE_INFINITY } = channel ?? {};
  // A channel that is off may know files when it is back.
  const way = channel === undefined ? "apart" : channel.files;
  const sent = attachments.filter(({ sizeBytes }) => way !== undefined && sizeBytes <= maxFileBytes);
  const named = attachments.filter((file) => !sent.includes(file));
  const why = way === undefined ? "this chat cannot receive files" : "too large for this chat";
  const notes = named.map(({ filename }) => `[${filename}: not sent, ${why}]`);
  const text = [content, ...notes].filter((part) => part !== "").join("\n\n");
  const { texts, file } = channel === undefined ? { texts: text === "" ? [] : [text] } : cutReply(channel, text);
  const pieces = texts.map((piece): Piece => ({ content: piece, attachments: [] }));
  if (file !== undefined) sent.unshift(file);
  if (sent.length === 0) return pieces;
  if (way === "together") return [...pieces.slice(0, -1), { content: pieces.at(-1)?.content ?? "", attachments: sent }];
  return [...pieces, ...sent.map((file): Piece => ({ content: "", attachments: [file] }))];
}

/** One option of a question, as a person picks it. */
export interface Choice {
  readonly label: string;
  readonly description?: string | undefined;
  readonly value: string;
}

const longestQuote = 300;

/** A label that is longer does not fit on a button: the options are listed as well. */
const longestLabel = 30;

/**
 * The platform messages of a question. Its options are buttons below the last one where the channel has as many, and
 * numbered lines where it has not, or where a line says more than a button can. What is asked about a message from the
 * page is asked there alone.
 */
export function questionRepliesOf(
  channel: Shape | undefined,
  message: InboundMessage,
  question: { readonly id: string; readonly content: string; readonly choices: readonly Choice[] },
  turnId: string,
): readonly Work<"outbound">[] {
  if (destinationOf(message) !== message) return [];
  const { id, content, choices } = question;
  const hasButtons = choices.length > 0 && choices.length <= (channel?.maxButtons ?? 0);
  const isListed =
    !hasButtons || choices.some(({ label, description }) => label.length > longestLabel || description !== undefined);
  const lines = choices.map(({ label, description }, index) => {
    const more = description === undefined || description === label ? "" : ` – ${description}`;
    return `${index + 1}. ${label}${more}`;
  });
  const text = isListed && lines.length > 0 ? `${content}\n\n${lines.join("\n")}` : content;
  const replies = repliesOf(channel, message, id, text, turnId);
  const last = replies.at(-1);
  if (!hasButtons || last === undefined) return replies;
  const buttons = choices.map(({ label, value }, index) => ({
    label: isListed ? cutText(`${index + 1}. ${label}`, longestLabel + 4) : label,
    value,
  }));
  return [...replies.slice(0, -1), { ...last, body: { ...last.body, buttons } }];
}
