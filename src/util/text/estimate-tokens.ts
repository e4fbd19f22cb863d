const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * About how many tokens a text takes: one for each character of the dense scripts, one for four others. Real
 * tokenizers differ by up to a third, which the provider's own usage corrects.
 */
export function estimateTokens(text: string): number {
  const denseCount = text.match(dense)?.length ?? 0;
  return denseCount + Math.ceil((text.length - denseCount) / 4);
}
