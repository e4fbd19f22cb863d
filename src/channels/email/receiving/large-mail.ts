import { randomUUID } from "node:crypto";
import type { MessageStructureObject } from "imapflow";
import type { ReceivedFile } from "../../channel.js";
import { defaultName } from "./content.js";

/** The parts of a large mail, as its server has found them. */
export interface Parts {
  readonly texts: readonly TextPart[];
  readonly files: readonly FilePart[];
  /** Mails inside of it, which are among the files, too. */
  readonly mails: readonly TextPart[];
  /** How many more there are, beyond what is taken. */
  readonly leftOut: number;
}

export const noParts: Parts = { texts: [], files: [], mails: [], leftOut: 0 };

interface TextPart {
  /** As IMAP numbers it. */
  readonly part: string;
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly encoding: string;
}

interface FilePart {
  readonly part: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number | undefined;
}

const mostTexts = 8;
const mostFiles = 50;
const deepest = 30;
/** Of base64 four characters are three bytes, and each line of 76 ends in two more. */
const base64Share = (3 / 4) * (76 / 78);

/** Tells the texts of a mail from its files, without looking into either. */
export function partsOf(structure: MessageStructureObject): Parts {
  const texts: TextPart[] = [];
  const files: FilePart[] = [];
  const mails: TextPart[] = [];
  let tooDeep = 0;
  const walk = (node: MessageStructureObject, depth: number): void => {
    const { type, childNodes: children = [] } = node;
    if (depth > deepest) {
      tooDeep += 1;
      return;
    }
    if (type === "multipart/alternative") {
      const wanted =
        children.find((child) => child.type === "text/plain") ?? children.find((child) => !isCalendar(child));
      for (const child of children) if (child === wanted || isCalendar(child)) walk(child, depth + 1);
    } else if (type === "multipart/signed") {
      for (const child of children.slice(0, 1)) walk(child, depth + 1);
    } else if (type.startsWith("multipart/")) {
      for (const child of children) walk(child, depth + 1);
    } else if (isText(node)) {
      texts.push(toText(node));
    } else {
      files.push(toFile(node, files.length));
      if (type === "message/rfc822") mails.push(toText(node));
    }
  };
  walk(structure, 0);
  const leftOut = tooDeep + Math.max(0, texts.length - mostTexts) + Math.max(0, files.length - mostFiles);
  return {
    texts: texts.slice(0, mostTexts),
    files: files.slice(0, mostFiles),
    mails: mails.slice(0, mostTexts),
    leftOut,
  };
}

function isText({ type, disposition, parameters }: MessageStructureObject): boolean {
  if (disposition?.toLowerCase() === "attachment") return false;
  return (
    type === "text/calendar" || ((type === "text/plain" || type === "text/html") && parameters?.name === undefined)
  );
}

function isCalendar({ type }: MessageStructureObject): boolean {
  return type === "text/calendar";
}

function toText({ part = "1", type, parameters = {}, encoding = "7bit" }: MessageStructureObject): TextPart {
  return { part, type, parameters, encoding };
}

function toFile(node: MessageStructureObject, index: number): FilePart {
  const { part = "1", type: mimeType, encoding, size, parameters, dispositionParameters, envelope } = node;
  const subject = mimeType === "message/rfc822" && envelope?.subject ? `${envelope.subject}.eml` : undefined;
  const isBase64 = encoding?.toLowerCase() === "base64";
  return {
    part,
    mimeType,
    filename: dispositionParameters?.filename ?? parameters?.name ?? subject ?? defaultName(mimeType, index),
    sizeBytes: size === undefined ? undefined : Math.floor(isBase64 ? size * base64Share : size),
  };
}

/** A small mail with the texts of a large one, cut where they are long, so that one reader does for both. */
export function smallMail(texts: readonly (TextPart & { readonly bytes: Buffer })[]): Buffer {
  const boundary = `part-${randomUUID()}`;
  const pieces = texts.flatMap(({ type, parameters, encoding, bytes }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Type: ${type}${parameterText(parameters)}\r\nContent-Transfer-Encoding: ${word(encoding)}\r\n\r\n`,
    ),
    bytes,
    Buffer.from("\r\n"),
  ]);
  const head = `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

function parameterText(parameters: Readonly<Record<string, string>>): string {
  return ["charset", "format", "delsp"]
    .flatMap((key) => (parameters[key] === undefined ? [] : [`; ${key}="${word(parameters[key])}"`]))
    .join("");
}

function word(text: string): string {
  return text.replace(/[^\w.:+-]/g, "");
}

/** The files of a large mail: each is fetched when it is read. */
export function filesOf(
  files: readonly FilePart[],
  read: (part: string) => ReceivedFile["read"],
): readonly ReceivedFile[] {
  return files.map(({ part, ...file }) => ({ ...file, read: read(part) }));
}
