import { createHash } from "node:crypto";
import type { OutboundMessage } from "../../../bus/messages.js";
import { ChannelError, messageOf } from "../../../errors.js";
import { readToSend } from "../../../util/files/noted-file.js";
import { toMailHtml } from "../../formatting/dialects/mail-html.js";
import { toPlainText } from "../../formatting/plain-text.js";
import type { KnownMail } from "../receiving/known.js";
import { loadHtmlReader } from "../text/html-text.js";
import { saidIn } from "../text/said.js";

/** A mail that is ready to leave. */
export interface ComposedMail {
  /** Without brackets. */
  readonly messageId: string;
  readonly subject: string;
  readonly references: readonly string[];
  /** What quotes of it are known by. */
  readonly said: string;
  /** The whole of it, as SMTP and IMAP take it. */
  readonly raw: Buffer;
}

const longestSubject = 70;

/** The same for each attempt at one message, so that a mail which arrived is known again. */
export function messageIdOf(outboundId: string, fromAddress: string): string {
  const domain = fromAddress.slice(fromAddress.lastIndexOf("@") + 1).replace(/[^\w.-]/g, "") || "localhost";
  return `${createHash("sha256").update(outboundId).digest("hex").slice(0, 32)}@${domain}`;
}

/** Writes a mail with a plain and an HTML text. @throws {ChannelError} a file cannot be read */
export async function compose(
  message: Pick<OutboundMessage, "id" | "chatId" | "content" | "attachments">,
  answered: KnownMail | undefined,
  fromAddress: string,
): Promise<ComposedMail> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { content, attachments, chatId } = message;
  const messageId = messageIdOf(message.id, fromAddress);
  const text = toPlainText(content);
  const html = toMailHtml(content);
  const subject = answered === undefined ? firstLine(text) : replySubject(answered.subject);
  const references = answered === undefined ? [] : [...answered.references, answered.id];
  const composer = new MailComposer({
    from: { name: "", address: fromAddress },
    to: { name: "", address: chatId },
    subject,
    messageId: `<${messageId}>`,
    ...(answered === undefined
      ? {}
      : { inReplyTo: `<${answered.id}>`, references: references.map((id) => `<${id}>`).join(" ") }),
    headers: {
      "Auto-Submitted": answered === undefined ? "auto-generated" : "auto-replied",
      "X-Auto-Response-Suppress": "All",
    },
    text,
    html,
    attachments: await Promise.all(
      attachments.map(async (file) => ({
        content: await readToSend(file),
        filename: file.filename,
        contentType: file.mimeType,
      })),
    ),
    disableUrlAccess: true,
    disableFileAccess: true,
  });
  try {
    // Programs quote the one or the other.
    const said = saidIn(text, (await loadHtmlReader())(html));
    return { messageId, subject, references, said, raw: await composer.compile().build() };
  } catch (error) {
    throw new ChannelError(`The mail could not be written: ${messageOf(error)}`, { cause: error });
  }
}

function replySubject(subject: string): string {
  return /^re\s*(?:\[\d+\])?:/i.test(subject) ? subject : subject === "" ? "Re: your mail" : `Re: ${subject}`;
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  if (line.length <= longestSubject) return line || "A message from your assistant";
  return `${line.slice(0, longestSubject).replace(/\s+\S*$/, "")}…`;
}
