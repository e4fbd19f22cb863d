import { headerBlock } from "../header-lines.js";
import { calendarText } from "../receiving/calendar.js";
import { readNestedMails } from "./nested.js";
import { type MailParts, type PartFault, readParts } from "./read-parts.js";
import { bodyOf, rawText, withGuessedParts, withoutEncoding } from "./repair.js";

/** What a mail holds, as bytes and text alone. */
export interface ParsedContent {
  readonly text: string;
  readonly calendar: string;
  /** The text of mails that lie in it as parts. */
  readonly nested: string;
  readonly files: readonly {
    readonly filename: string | undefined;
    readonly contentType: string;
    readonly size: number;
    readonly content: Uint8Array;
  }[];
  readonly damage?: Damage | undefined;
}

/** Not all of a mail is as its author wrote it. */
export interface Damage {
  /** Ends the sentence "This mail is damaged: …". */
  readonly why: string;
  /** Which part of it is the author's text, and which is a file or a quote, nobody can say. */
  readonly isGuess: boolean;
}

/** Smaller pictures inside the text are logos and counters. */
const smallestPicture = 4096;
export const unreadable = "[This mail is built in a way that cannot be read.]";
const signatures: ReadonlySet<string> = new Set([
  "application/pgp-signature",
  "application/pkcs7-signature",
  "application/x-pkcs7-signature",
]);

/** Reads a mail that is whole in memory, in any charset and encoding, also when it is broken. Never rejects. */
export async function parseContent(source: Buffer): Promise<ParsedContent> {
  const { parts, damage } = await readDamaged(source, await readParts(source));
  const attachments = parts.files.filter(({ contentType }) => !signatures.has(contentType));
  const calendar = attachments
    .filter(({ contentType }) => contentType === "text/calendar")
    .map(({ content }) => calendarText(content.toString("utf8")))
    .filter((text) => text !== "");
  const files = attachments.filter(
    ({ contentType, filename, related, content }) =>
      !(contentType === "text/calendar" && filename === undefined) &&
      !(related && contentType.startsWith("image/") && content.length < smallestPicture),
  );
  return {
    text: parts.text.replace(/\u00a0/g, " ").trim(),
    calendar: [...new Set(calendar)].join("\n\n"),
    nested: await readNestedMails(parts.files),
    files: files.map(({ filename, contentType, content }) => ({
      filename,
      contentType,
      size: content.length,
      content,
    })),
    damage,
  };
}

const words: Readonly<Record<PartFault, string>> = {
  parts: "its parts cannot be separated as its headers say",
  parser: "it has more parts than can be read",
  type: "it does not say what kind of text it is",
  letters: "some of its letters could not be read for sure",
  end: "its end is missing",
};

/** Tries harder where a mail is not built as it says. */
async function readDamaged(
  source: Buffer,
  first: MailParts,
): Promise<{ parts: MailParts; damage?: Damage | undefined }> {
  const { faults } = first;
  const isLost = !first.hasBytes && bodyOf(source, headerBlock(source)).toString("latin1").trim() !== "";
  const [fault] = (["parts", "parser", "type", "letters", "end"] as const).filter((each) => faults.has(each));
  if (faults.has("parts") || faults.has("parser") || isLost) {
    const guessed = withGuessedParts(source);
    const second = guessed === undefined ? undefined : await readParts(guessed);
    const why = words[faults.has("parser") ? "parser" : "parts"];
    if (second !== undefined && second.text.length > first.text.length)
      return {
        parts: { ...second, files: first.files.length > 0 ? first.files : second.files },
        damage: { why, isGuess: true },
      };
    if (!isEmpty(first)) return { parts: first, damage: { why, isGuess: true } };
    return { parts: { ...first, text: rawText(source) }, damage: { why, isGuess: true } };
  }
  if (faults.has("letters") || hasNoise(first.text)) {
    const plain = await readParts(withoutEncoding(source));
    if (isPlain(plain))
      return {
        parts: { ...first, text: plain.text },
        damage: { why: "its encoding is not the one that its headers name", isGuess: true },
      };
    return { parts: first, damage: { why: words.letters, isGuess: false } };
  }
  return { parts: first, damage: fault === undefined ? undefined : { why: words[fault], isGuess: fault === "type" } };
}

function isEmpty({ text, files }: MailParts): boolean {
  return text.trim() === "" && files.length === 0;
}

/** A text that needs no decoding. */
function isPlain({ text, faults }: MailParts): boolean {
  return (
    text.trim() !== "" && !faults.has("letters") && !hasNoise(text) && !/[A-Za-z0-9+/]{60}|=[0-9A-F]{2}/.test(text)
  );
}

/** What is left of a text that was decoded in a wrong way. */
function hasNoise(text: string): boolean {
  const noise = (text.match(/[\ufffd\p{Cc}]/gu) ?? []).filter((unit) => !/\s/.test(unit)).length;
  return noise > 2 && noise > text.length / 50;
}
