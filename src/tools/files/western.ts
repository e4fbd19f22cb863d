/**
 * Windows-1252, in which Windows wrote Western European languages before Unicode, and Excel still writes CSV files there.
 * Node's own decoder takes it for Latin 1 in some versions. From 0x80 on; a space where a byte stands for nothing.
 */
const special = [..."€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"];
const plainControls: ReadonlySet<number> = new Set([9, 10, 12, 13]);

/** The text of bytes that are plainly such a text: letters with accents are few in these languages. */
export function decodeWestern(bytes: Uint8Array): string | undefined {
  let high = 0;
  for (const byte of bytes) {
    const isControl = (byte < 0x20 && !plainControls.has(byte)) || byte === 0x7f;
    if (isControl || special[byte - 0x80] === " ") return undefined;
    if (byte >= 0x80) high += 1;
  }
  return high * 3 > bytes.length ? undefined : westernText(bytes);
}

/** The text of bytes that are said to be such a text. */
export function westernText(bytes: Uint8Array): string {
  const latin = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return latin.replace(/[\x80-\x9f]/g, (character) => {
    const meant = special[character.charCodeAt(0) - 0x80] ?? " ";
    return meant === " " ? character : meant;
  });
}

/** Undefined when the encoding lacks one of the characters. */
export function encodeWestern(text: string): Buffer | undefined {
  const codes = [...text].map((character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80 || (code >= 0xa0 && code <= 0xff)) return code;
    const index = special.indexOf(character);
    return index === -1 ? undefined : 0x80 + index;
  });
  return codes.every((code) => code !== undefined) ? Buffer.from(codes) : undefined;
}
