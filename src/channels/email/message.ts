import { createHash } from "node:crypto";
import type { ReceivedMessage } from "../channel.js";
import { addressesIn } from "./addresses.js";
import type { MailContent } from "./content.js";
import type { MailHead } from "./headers.js";
import { type KnownMails, threadOf } from "./known.js";
import type { EmailOptions } from "./options.js";
import { type SplitText, splitText } from "./quotes.js";
import type { Recipients } from "./signed.js";

const longestText = 50_000;
const longestQuote = 20_000;

/** A mail as a message of its author: what they wrote, and apart from it what they quote. */
export function toReceived(
  head: MailHead,
  { text, calendar, files }: MailContent,
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
  const split = splitText(cut(text, longestText * 2));
  // The conversation holds what it quotes already.
  const isKnown = before.length > 0 && !split.isForward;
  const others = [calendar, isKnown ? "" : split.quoted].filter((part) => part !== "").join("\n\n");
  const last = before.at(-1);
  const thread = last === undefined ? threadOf(head.references[0] ?? head.messageId) : last.thread;
  return {
    chatId: address,
    senderId: address,
    senderName: head.from?.name,
    chatType: "dm",
    addressed: true,
    ...(options.session === "thread" ? { thread } : {}),
    content: cut(contentOf(head, split.own, others, files.length > 0), longestText),
    ...(others === ""
      ? {}
      : {
          quoted: {
            text: cut(others, longestQuote),
            by: "other",
            name: split.isForward ? "a forwarded mail" : calendar === "" ? "an earlier mail" : "a calendar entry",
          },
        }),
    ...outsideOf(split, isKnown, recipients, ownAddresses(options)),
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

function outsideOf(
  { own }: SplitText,
  isKnown: boolean,
  recipients: Recipients | undefined,
  ownAddresses: readonly string[],
): { readonly outside?: string } {
  if (recipients === undefined) return { outside: "a mail whose sender is not verified" };
  // Whoever got it from its author could have sent it on, signature and all.
  if ("doubt" in recipients) return { outside: "a mail of which not all is signed" };
  const named = new Set(recipients.addresses.map(withoutTag));
  if (!ownAddresses.some((address) => named.has(withoutTag(address.toLowerCase()))))
    return { outside: "a mail that names somebody else as its recipient" };
  return !isKnown && /^>/m.test(own) ? { outside: "a mail that quotes others" } : {};
}

function ownAddresses({ fromAddress, imapUsername }: EmailOptions): readonly string[] {
  return [fromAddress, imapUsername].flatMap(addressesIn);
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
