const words = /\S+/gu;
/** A letter with the marks on it, or the parts of Korean syllables: what Unicode may write as one letter. */
const letters =
  /[\u1100-\u115f]+[\u1160-\u11ff]*[\p{M}\uff9e\uff9f]*|[\u1160-\u11ff\u3131-\u318e\uffa1-\uffdc]+[\p{M}\uff9e\uff9f]*|\P{M}[\p{M}\uff9e\uff9f]*|[\p{M}\uff9e\uff9f]+/gu;
/** A word may be found so often in one text, to be shown. */
const mostMatches = 50;

export type Range = readonly [from: number, to: number];

/** A text as it is compared: one form of each letter, no capitals, one blank between words. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replace(/\s+/g, " ").trim();
  return (text.match(words) ?? []).map(foldWord).join(" ");
}

function foldWord(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  // A sigma at the end of a word is another letter; searched for in the middle of one it is the same.
  return word.normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

/** Where in `text` the folded needles are, in order, without overlaps; undefined where one of them is missing. */
export function matchesIn(text: string, needles: readonly string[]): readonly Range[] | undefined {
  const folded = foldText(text);
  const found: Range[] = [];
  for (const needle of needles) {
    let at = folded.indexOf(needle);
    if (at === -1) return undefined;
    for (let n = 0; at !== -1 && n < mostMatches; n += 1) {
      found.push([at, at + needle.length]);
      at = folded.indexOf(needle, at + needle.length);
    }
  }
  return toOriginal(text, merged(found));
}

/** Ranges in order; those that touch are one. */
export function merged(ranges: readonly Range[]): readonly Range[] {
  const result: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

/** `ranges` are in the folded text, in order. */
function toOriginal(text: string, ranges: readonly Range[]): readonly Range[] {
  const result: [number, number][] = [];
  let next = 0;
  let start = 0;
  for (const match of text.matchAll(words)) {
    const [word] = match;
    const folded = foldWord(word);
    const end = start + folded.length;
    for (let n = next; n < ranges.length; n += 1) {
      const [from, to] = ranges[n] ?? [0, 0];
      if (from >= end) break;
      const { from: first, to: last } = inWord(word, Math.max(0, from - start), Math.min(folded.length, to - start));
      const known = result[n];
      if (known === undefined) result[n] = [match.index + first, match.index + last];
      else known[1] = match.index + last;
      if (to <= end) next = n + 1;
    }
    if (next >= ranges.length) break;
    start = end + 1;
  }
  return merged(result.filter((range) => range !== undefined));
}

/** What of a word has become this part of its folded form: whole letters. */
function inWord(word: string, from: number, to: number): { readonly from: number; readonly to: number } {
  if (isAscii(word)) return { from, to };
  let [first, last] = [0, word.length];
  let done = 0;
  for (const { 0: letter, index } of word.matchAll(letters)) {
    const end = done + foldWord(letter).length;
    if (done <= from) first = index;
    if (end >= to) {
      last = index + letter.length;
      break;
    }
    done = end;
  }
  return { from: first, to: last };
}

function isAscii(text: string): boolean {
  return !/[^\p{ASCII}]/u.test(text);
}
