import iconv from "iconv-lite";

/**
 * What Windows wrote before Unicode, and Excel still writes. Node's own decoder takes the first for Latin 1 and lacks characters
 * of the second, depending on its version; it encodes neither.
 */
export type WindowsCharset = "windows-1252" | "gbk";

/** The text of bytes, with U+FFFD where they stand for nothing. */
export function decodeWindows(bytes: Uint8Array, charset: WindowsCharset): string {
  return iconv.decode(bytes, standardOf(charset));
}

/** Undefined when the encoding lacks one of the characters. */
export function encodeWindows(text: string, charset: WindowsCharset): Buffer | undefined {
  const isWhole = iconv.decode(iconv.encode(text, charset), charset) === text;
  return isWhole ? iconv.encode(text, standardOf(charset)) : undefined;
}

/** The same characters as GBK and more. In GBK itself the library writes a euro sign as only some versions of Windows read it. */
function standardOf(charset: WindowsCharset): string {
  return charset === "gbk" ? "gb18030" : charset;
}
