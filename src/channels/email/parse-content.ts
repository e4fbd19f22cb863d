import type { ParsedMail } from "mailparser";
import { calendarText } from "./calendar.js";

/** What a mail holds, as bytes and text alone. */
export interface ParsedContent {
  readonly text: string;
  readonly calendar: string;
  readonly files: readonly {
    readonly filename: string | undefined;
    readonly contentType: string;
    readonly size: number;
    readonly content: Uint8Array;
  }[];
}

/** Smaller pictures inside the text are logos and counters. */
const smallestPicture = 4096;
export const unreadable = "[This mail is built in a way that cannot be read.]";
const longestHtml = 512 * 1024;
const signatures: ReadonlySet<string> = new Set([
  "application/pgp-signature",
  "application/pkcs7-signature",
  "application/x-pkcs7-signature",
]);

/** Reads a mail that is whole in memory, in any charset and encoding, also when it is broken. Never rejects. */
export async function parseContent(source: Buffer): Promise<ParsedContent> {
  const parsed = await parse(source);
  if (parsed === undefined) return { text: unreadable, calendar: "", files: [] };
  const attachments = parsed.attachments
    // In a broken mail it is missing, whatever its type says.
    .map((file) => ({ ...file, contentType: String(file.contentType || "application/octet-stream") }))
    .filter(({ contentType }) => !signatures.has(contentType));
  const calendar = attachments
    .filter(({ contentType }) => contentType === "text/calendar")
    .map(({ content }) => calendarText(content.toString("utf8")))
    .filter((text) => text !== "");
  const files = attachments.filter(
    ({ contentType, filename, related, size }) =>
      !(contentType === "text/calendar" && filename === undefined) &&
      !(related && contentType.startsWith("image/") && size < smallestPicture),
  );
  return {
    text: textOf(parsed),
    calendar: [...new Set(calendar)].join("\n\n"),
    files: files.map(({ filename, contentType, size, content }) => ({ filename, contentType, size, content })),
  };
}

/** The parser refuses a mail with very many parts, and one whose HTML is nested too deeply to become text. */
async function parse(source: Buffer): Promise<ParsedMail | undefined> {
  const { simpleParser } = await import("mailparser");
  const options = {
    skipImageLinks: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    maxHtmlLengthToParse: longestHtml,
  };
  return await simpleParser(source, options)
    .catch(() => simpleParser(source, { ...options, skipHtmlToText: true }))
    .catch(() => undefined);
}

function textOf({ text = "", html }: ParsedMail): string {
  const found = text.trim() === "" && typeof html === "string" ? withoutTags(html) : text;
  return found.replace(/\u00a0/g, " ").trim();
}

function withoutTags(html: string): string {
  return html.replace(/<[^<>]*>/g, " ").replace(/\s+/g, " ");
}
