import { createHash } from "node:crypto";
import type { AddressObject } from "mailparser";
import { addressesIn, isAddress } from "./addresses.js";
import { type Header, type HeaderLines, headerBlock, readHeaderLines } from "./header-lines.js";

/** What is known about a mail before its text is looked at. */
export interface MailHead extends HeaderLines {
  /** The one author, in lower case; undefined where there is none or several, or where the header is twice. */
  readonly from: { readonly address: string; readonly name: string | undefined } | undefined;
  readonly subject: string;
  /** Without brackets; made of the headers where the mail has none. */
  readonly messageId: string;
  /** The mails before this one, the oldest first, without brackets. */
  readonly references: readonly string[];
  readonly date: Date | undefined;
}

const mostReferences = 100;
const longestValue = 10_000;

/** Reads the headers at the beginning of a mail, however broken it is. */
export async function parseHead(source: Buffer): Promise<MailHead> {
  const block = headerBlock(source);
  const { headers, fault } = readHeaderLines(block);
  const { simpleParser } = await import("mailparser");
  const parsed = await simpleParser(Buffer.concat([withoutStructure(headers), Buffer.from("\r\n\r\n")]));
  const textOf = (name: string): string => headers.find((header) => header.name === name)?.value ?? "";
  const [messageId = createHash("sha256").update(block).digest("hex")] = idsIn(textOf("message-id"));
  const references = [...idsIn(textOf("references")), ...idsIn(textOf("in-reply-to"))];
  return {
    headers,
    fault,
    from: authorOf(headers, parsed.from),
    subject: (parsed.subject ?? "").replace(/\s+/g, " ").trim(),
    messageId,
    references: [...new Set(references)].filter((id) => id !== messageId).slice(-mostReferences),
    date: parsed.date,
  };
}

/** The headers that say what a mail is about; those that say how its body is built would lead the parser to look for it. */
function withoutStructure(headers: readonly Header[]): Buffer {
  const lines = headers
    .filter(({ name }) => ["from", "subject", "date"].includes(name))
    .map(({ name, value }) => `${name}: ${value.slice(0, longestValue)}`);
  return Buffer.from(lines.join("\r\n"), "latin1");
}

function idsIn(value: string): readonly string[] {
  const bracketed = [...value.slice(0, 100_000).matchAll(/<([^<>\s]{1,900})>/g)].map(([, id = ""]) => id);
  if (bracketed.length > 0) return bracketed;
  const bare = value.trim();
  return bare !== "" && bare.length < 900 && !/\s/.test(bare) ? [bare] : [];
}

/** The one author, where two ways to read the header find the same. */
function authorOf(headers: readonly Header[], from: AddressObject | undefined): MailHead["from"] {
  const [value = "", ...more] = headers.filter(({ name }) => name === "from").map((header) => header.value);
  const [only, ...others] = from?.value ?? [];
  const address = only?.address?.trim().toLowerCase() ?? "";
  const [read, ...further] = addressesIn(value);
  const isOne = [more, others, further].every(({ length }) => length === 0) && only?.group === undefined;
  if (!isOne || value.length > longestValue || !isAddress(address)) return undefined;
  const isSame = read === address || (read !== undefined && read === addressesIn(address)[0]);
  return isSame ? { address, name: only?.name?.trim() || undefined } : undefined;
}

const automaticPrecedence: ReadonlySet<string> = new Set(["bulk", "list", "junk", "auto_reply"]);
const listHeaders: ReadonlySet<string> = new Set([
  "list-id",
  "list-post",
  "list-unsubscribe",
  "x-autoreply",
  "x-autorespond",
]);
const machines = /^(?:mailer-daemon|postmaster|bounces?|double-bounce)(?:[+-].*)?@/i;

/** Why nobody may be answered: a program wrote it (RFC 3834), or the assistant itself. */
export function automaticReason({ headers, from }: MailHead, own: ReadonlySet<string>): string | undefined {
  if (from === undefined) return "it has not exactly one author";
  if (own.has(from.address)) return "the assistant's own address wrote it";
  if (machines.test(from.address)) return "a mail server wrote it";
  for (const { name, value } of headers) {
    const word = value.toLowerCase().replace(/;.*/, "").trim();
    if (name === "auto-submitted" && word !== "no") return `Auto-Submitted: ${word}`;
    if (name === "precedence" && automaticPrecedence.has(word)) return `Precedence: ${word}`;
    if (listHeaders.has(name)) return `it has ${name}`;
    if (name === "return-path" && /^<\s*>$/.test(value)) return "it has no return path";
    if (name === "content-type" && word === "multipart/report") return "it is a report of a mail server";
    if (name === "x-auto-response-suppress" && /\b(?:all|autoreply)\b/.test(value.toLowerCase()))
      return "it asks for no automatic answer";
  }
  return undefined;
}
