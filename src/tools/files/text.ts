import { encodeWindows, type WindowsCharset } from "../../util/text/windows-charset.js";
import { decodeGbk, decodeWestern } from "./guessed-charset.js";

/** How a text file was written, so that it can be written back the same way. */
export type TextEncoding = "utf-8" | "utf-8-bom" | "utf-16le" | "utf-16be" | WindowsCharset;

export interface FileText {
  /** Without its byte order mark. */
  readonly text: string;
  readonly encoding: TextEncoding;
}

/** The text of a file's bytes; undefined when they are not UTF-8, UTF-16 with a byte order mark, or plainly another. */
export function decodeText(bytes: Uint8Array): FileText | undefined {
  const encoding = encodingOf(bytes);
  if (!encoding.startsWith("utf-16") && bytes.includes(0)) return undefined;
  try {
    const label = encoding === "utf-8-bom" ? "utf-8" : encoding;
    return { text: new TextDecoder(label, { fatal: true }).decode(bytes), encoding };
  } catch {
    if (encoding !== "utf-8") return undefined;
    const chinese = decodeGbk(bytes);
    if (chinese !== undefined) return { text: chinese, encoding: "gbk" };
    const western = decodeWestern(bytes);
    return western === undefined ? undefined : { text: western, encoding: "windows-1252" };
  }
}

/** Undefined when the encoding lacks a character of the text. */
export function encodeText({ text, encoding }: FileText): Buffer | undefined {
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text);
    case "utf-8-bom":
      return Buffer.from(`\uFEFF${text}`);
    case "utf-16le":
      return Buffer.from(`\uFEFF${text}`, "utf16le");
    case "utf-16be":
      return Buffer.from(`\uFEFF${text}`, "utf16le").swap16();
    case "gbk":
    case "windows-1252":
      return encodeWindows(text, encoding);
    default:
      return encoding satisfies never;
  }
}

function encodingOf(bytes: Uint8Array): TextEncoding {
  const [a, b, c] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return a === 0xef && b === 0xbb && c === 0xbf ? "utf-8-bom" : "utf-8";
}
