const words = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[\p{L}\p{N}]+(?:['’_-][\p{L}\p{N}]+)*/gu;
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/**
 * What a text is found by: words, and for scripts that are written without spaces each pair of neighbours and each
 * single character.
 */
export function toTerms(text: string): string[] {
  const terms: string[] = [];
  for (const [run] of text.normalize("NFKC").toLowerCase().matchAll(words)) {
    if (unspaced.test(run)) terms.push(...pairs([...run]));
    else terms.push(run);
  }
  return terms;
}

function pairs(characters: readonly string[]): string[] {
  const terms = [...characters];
  for (let index = 1; index < characters.length; index++) terms.push(`${characters[index - 1]}${characters[index]}`);
  return terms;
}
