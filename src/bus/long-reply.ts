import type { Attachment } from "./messages.js";

/** A reply of more platform messages than this comes as its beginning and a file, where the channel does not say a smaller number. */
const mostMessages = 10;
const shownFirst = 3;
/** Enough to know how many messages a text will be: cutting a whole one of megabytes would stall everybody else. */
const looked = 64 * 1024;

/** What a channel says about long texts. */
interface LongShape {
  split(content: string): readonly string[];
  readonly files?: "apart" | "together";
  readonly maxFileBytes?: number;
  readonly maxMessages?: number;
}

/** The texts that show a reply, and the file that holds all of it where they do not. */
export interface CutReply {
  readonly texts: readonly string[];
  readonly file?: Attachment;
}

/** Cuts a reply into platform messages. Nobody reads hundreds of them: a long one is its beginning, and a file with the whole. */
export function cutReply(channel: LongShape, content: string): CutReply {
  const begin = content.length > looked ? content.slice(0, looked) : content;
  const pieces = channel.split(begin);
  const expected = (pieces.length * content.length) / Math.max(begin.length, 1);
  // A channel that takes any text as one message carries it whole.
  const most = Math.min(channel.maxMessages ?? mostMessages, mostMessages);
  if (pieces.length <= 1 || expected <= most) return { texts: begin === content ? pieces : channel.split(content) };
  const length = content.length.toLocaleString("en-US");
  const ending = lastRemark(content);
  if (channel.files === undefined) {
    const note = `(This answer has ${length} characters. Only its beginning is shown here; all of it is in this conversation's log.)${ending}`;
    return { texts: [...pieces.slice(0, most - 1), note] };
  }
  const { text, isCut } = withinBytes(content, channel.maxFileBytes);
  const file = {
    path: "",
    filename: "answer.md",
    mimeType: "text/markdown",
    sizeBytes: Buffer.byteLength(text),
    text,
  };
  const holds = isCut ? "as much of it as this chat takes" : "all of it";
  const note = `(This answer has ${length} characters. Above is its beginning; the file answer.md holds ${holds}.)${ending}`;
  // With the note and the file.
  return { texts: [...pieces.slice(0, Math.min(shownFirst, most - 2)), note], file };
}

/** What is in brackets below an answer, such as that it was cut, is also for people who read only its beginning. */
function lastRemark(content: string): string {
  const last = content.slice(-500).split("\n").at(-1) ?? "";
  return /^\(.{1,300}\)$/.test(last) ? `\n${last}` : "";
}

function withinBytes(content: string, maxBytes = Number.POSITIVE_INFINITY) {
  if (Buffer.byteLength(content) <= maxBytes) return { text: content, isCut: false };
  const text = Buffer.from(content)
    .subarray(0, maxBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return { text, isCut: true };
}
