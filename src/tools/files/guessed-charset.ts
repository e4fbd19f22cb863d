import { decodeWindows } from "../../util/text/windows-charset.js";

const plainControls: ReadonlySet<number> = new Set([9, 10, 12, 13]);
const nothing = "\uFFFD";

/** The text of bytes that are plainly Chinese in the encoding GBK; undefined for whatever else. */
export function decodeGbk(bytes: Uint8Array): string | undefined {
  return looksChinese(bytes) ? whole(decodeWindows(bytes, "gbk")) : undefined;
}

/** The text of bytes that are plainly Western European in Windows-1252: letters with accents are few in these languages. */
export function decodeWestern(bytes: Uint8Array): string | undefined {
  let high = 0;
  for (const byte of bytes) {
    if ((byte < 0x20 && !plainControls.has(byte)) || byte === 0x7f) return undefined;
    if (byte >= 0x80) high += 1;
  }
  return high * 3 > bytes.length ? undefined : whole(decodeWindows(bytes, "windows-1252"));
}

function whole(text: string): string | undefined {
  return text.includes(nothing) ? undefined : text;
}

/** Western text has single bytes of this range between letters; Chinese has pairs, most of them common characters. */
function looksChinese(bytes: Uint8Array): boolean {
  let pairs = 0;
  let common = 0;
  for (let at = 0; at < bytes.length; at++) {
    const first = bytes[at] ?? 0;
    if (first < 0x80) continue;
    at += 1;
    const second = bytes[at] ?? 0;
    if (first === 0x80 || first === 0xff || second < 0x40) return false;
    pairs += 1;
    // GB 2312: punctuation, and the 3755 characters of everyday use.
    if (second >= 0xa1 && ((first >= 0xb0 && first <= 0xd7) || (first >= 0xa1 && first <= 0xa3))) common += 1;
  }
  return pairs >= 2 && common >= pairs * 0.8;
}
