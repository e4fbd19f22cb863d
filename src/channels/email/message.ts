import { createHash } from "node:crypto";
import type { ReceivedMessage } from "../channel.js";
import { addressesIn } from "./addresses.js";
import type { Recipients } from "./auth/signed.js";
import type { MailHead } from "./headers.js";
import type { Damage } from "./mime/parse-content.js";
import type { EmailOptions } from "./options.js";
import type { MailContent } from "./receiving/content.js";
import { type KnownMails, threadOf } from "./receiving/known.js";
import { type SplitText, splitText } from "./text/quotes.js";
import { Said } from "./text/said.js";

const longestText = 50_000;
const longestQuote = 20_000;

/** A mail as a message of its author: what they wrote, and apart from it what they quote. */
export function toReceived(
  head: MailHead,
  { text, calendar, nested, damage, files }: MailContent,
  scope: {
    readonly known: KnownMails;
    readonly options: EmailOptions;
    /** Undefined where nobody has verified the author. */
    readonly recipients: Recipients | undefined;
  },
): ReceivedMessage {
  const { known, options, recipients } = scope;
  const address = head.from?.address ?? "";
  const before = head.references.flatMap((id) => known.find(id) ?? []).filter(({ chatId }) => chatId === address);
  const conversation = new Said(before.map(({ said = "" }) => said));
  const split = splitText(cut(text, longestText * 2), {
    holds: (quote) => conversation.holds(quote),
    addresses: new Set([address, ...ownAddresses(options)]),
  });
  const others = [calendar, split.others, nested].filter((part) => part !== "").join("\n\n");
  const last = before.at(-1);
  const thread = last === undefined ? threadOf(head.references[0] ?? head.messageId) : last.thread;
  const outside = outsideOf(recipients, ownAddresses(options), damage);
  // Marked as what others wrote, it cannot be a part of its own.
  const own = outside === undefined || split.signature === "" ? split.own : `${split.own}\n\n-- \n${split.signature}`;
  const content = cut(contentOf(head, own.trim(), others, files.length > 0), longestText);
  return {
    chatId: address,
    senderId: address,
    senderName: head.from?.name,
    chatType: "dm",
    addressed: true,
    ...(options.receiving.session === "thread" ? { thread } : {}),
    content:
      damage === undefined
        ? content
        : `${content}\n\n[This mail is damaged: ${damage.why}. What could be read of it is here.]`,
    ...quotedOf(split, others, nested, calendar),
    ...noteOf(split, outside),
    ...(outside === undefined ? {} : { outside }),
    files,
    hasFilesOfOthers: others !== "" || split.isForward,
    platformMessageId: head.messageId,
    replyTo: head.references.at(-1),
    dedupId: `email:${options.fromAddress}:${digest(`${address}\n${head.messageId}`)}`,
  };
}

/** A subject says something where a thread begins; a command or an answer stands for itself. */
function contentOf({ subject, references }: MailHead, own: string, others: string, hasFiles: boolean): string {
  if (own === "" && subject !== "") return `Subject: ${subject}`;
  // A file that comes alone says what it has to say.
  if (own === "") return others !== "" ? "(no text of its own)" : hasFiles ? "" : "(an empty mail)";
  return references.length > 0 || subject === "" || own.startsWith("/") ? own : `Subject: ${subject}\n\n${own}`;
}

function quotedOf(
  { recalled, isForward }: SplitText,
  others: string,
  nested: string,
  calendar: string,
): Pick<ReceivedMessage, "quoted"> {
  // What the assistant has said may have been said under the influence of others, which is known where its record is.
  if (others === "") return recalled === "" ? {} : { quoted: { text: cut(recalled, longestQuote), by: "assistant" } };
  const isPassedOn = isForward || nested !== "";
  const name = isPassedOn ? "a forwarded mail" : calendar === "" ? "an earlier mail" : "a calendar entry";
  return { quoted: { text: cut(others, longestQuote), by: "other", name } };
}

/** What is in none of the other parts, so that nothing of a mail vanishes unseen. */
function noteOf({ leftOut, signature }: SplitText, outside: string | undefined): { readonly note?: string } {
  const notes = [
    ...(leftOut === 0
      ? []
      : [
          `Quoted text that this conversation already has is left out: ${leftOut} ${leftOut === 1 ? "line" : "lines"}.`,
        ]),
    ...(signature === "" || outside !== undefined ? [] : [`The signature below the mail: ${signature}`]),
  ];
  return notes.length === 0 ? {} : { note: notes.join(" ") };
}

function outsideOf(
  recipients: Recipients | undefined,
  ownAddresses: readonly string[],
  damage: Damage | undefined,
): string | undefined {
  if (recipients === undefined) return "a mail whose sender is not verified";
  // Anyone who got it from its author could have sent it on, signature and all.
  if ("doubt" in recipients) return "a mail that is only partly signed";
  const named = new Set(recipients.addresses.map(withoutTag));
  if (!ownAddresses.some((address) => named.has(withoutTag(address.toLowerCase()))))
    return "a mail that names somebody else as its recipient";
  return damage?.isGuess === true ? "a damaged mail" : undefined;
}

function ownAddresses({ fromAddress, imap }: EmailOptions): readonly string[] {
  return [fromAddress, imap.username].flatMap(addressesIn);
}

function withoutTag(address: string): string {
  const [local = "", ...domain] = address.split("@");
  return [local.split("+", 1)[0], ...domain].join("@");
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = text.slice(0, longest).replace(/[\ud800-\udbff]$/, "");
  return `${kept}\n\n[The rest is left out: these are the first ${kept.length} of ${text.length} characters.]`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
