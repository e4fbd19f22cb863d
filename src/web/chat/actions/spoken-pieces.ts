/** Voices that read long pieces stop in the middle: none is longer than this. */
const mostChars = 220;

/** Whole sentences, as many as fit; a longer one is cut at a blank. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const part of text.split(/(?<=[.!?。！？;；\n])/).flatMap(cut)) {
    if (piece !== "" && piece.length + part.length > mostChars) {
      pieces.push(piece);
      piece = "";
    }
    piece += part;
  }
  return [...pieces, piece].map((one) => one.trim()).filter((one) => one !== "");
}

function cut(sentence: string): readonly string[] {
  if (sentence.length <= mostChars) return [sentence];
  const blank = sentence.lastIndexOf(" ", mostChars);
  const at = blank > 0 ? blank + 1 : mostChars;
  return [sentence.slice(0, at), ...cut(sentence.slice(at))];
}
