/** Any text, and any one character. */
export const anyText: unique symbol = Symbol("*");
export const anyCharacter: unique symbol = Symbol("?");

/** A pattern in pieces: characters, and what stands for others. */
export type Glob = readonly (string | typeof anyText | typeof anyCharacter)[];

/** `*` stands for any text, `?` for one character, everything else for itself. */
export function globOf(pattern: string): Glob {
  return [...pattern].map((character) => (character === "*" ? anyText : character === "?" ? anyCharacter : character));
}

/**
 * Whether the whole text is what the pattern says. Goes back to the last `*` only, so that it takes no more than the
 * lengths of both multiplied, however many there are.
 */
export function matchesGlob(glob: Glob, text: string): boolean {
  let at = 0;
  let piece = 0;
  let starAt = -1;
  let textAtStar = 0;
  while (at < text.length) {
    const one = glob[piece];
    const width = (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    if (one === anyText) {
      starAt = piece++;
      textAtStar = at;
    } else if (one === anyCharacter || (typeof one === "string" && text.startsWith(one, at))) {
      at += one === anyCharacter ? width : one.length;
      piece += 1;
    } else if (starAt !== -1) {
      textAtStar += 1;
      at = textAtStar;
      piece = starAt + 1;
    } else return false;
  }
  while (glob[piece] === anyText) piece += 1;
  return piece === glob.length;
}

export function hasWildcard(glob: Glob): boolean {
  return glob.some((piece) => typeof piece !== "string");
}
