/** The text of bytes that are plainly Chinese in the encoding GBK; undefined for whatever else. */
export function decodeGbk(bytes: Uint8Array): string | undefined {
  return looksChinese(bytes) ? decode(bytes) : undefined;
}

/** Undefined when GBK lacks one of the characters. */
export function encodeGbk(text: string): Buffer | undefined {
  const codes = codesOfGbk();
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) bytes.push(point);
    else {
      const code = codes.get(character);
      if (code === undefined) return undefined;
      bytes.push(code >> 8, code & 0xff);
    }
  }
  return Buffer.from(bytes);
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

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("gbk", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function codesOfGbk(): ReadonlyMap<string, number> {
  const codes = new Map<string, number>();
  const decoder = new TextDecoder("gbk");
  for (let first = 0x81; first <= 0xfe; first++)
    for (let second = 0x40; second <= 0xfe; second++) {
      const character = decoder.decode(Uint8Array.of(first, second));
      if ([...character].length === 1 && character !== "\uFFFD" && !codes.has(character))
        codes.set(character, first * 256 + second);
    }
  return codes;
}
