/**
 * About how many tokens a text takes: one for four letters of the Latin script, nearly one for a Chinese character, half
 * a one for a letter in between. Not rounded, so that the pieces of a text add up. Real tokenizers differ by up to a third,
 * which the provider's own usage corrects.
 */
export function estimateTokens(text: string): number {
  // Beyond Latin letters each character has two more bytes, or three.
  const wide = Math.min(text.length, (Buffer.byteLength(text) - text.length) / 2);
  return wide * 0.8 + (text.length - wide) / 4;
}
