import { merged, type Range } from "./fold-text.js";

const charsBefore = 60;
const charsInAll = 200;

/** A part of a text on one line around the first match, and where in it the matches are. */
export function snippetOf(
  text: string,
  matches: readonly Range[],
): { readonly snippet: string; readonly ranges: readonly Range[] } {
  const [first] = matches;
  const from = atLetter(text, Math.max(0, (first?.[0] ?? 0) - charsBefore));
  const to = atLetter(text, Math.min(text.length, Math.max(from + charsInAll, first?.[1] ?? 0)));
  const before = from > 0 ? "…" : "";
  const shift = before.length - from;
  const shown = matches.flatMap(([start, end]): Range[] =>
    start >= to ? [] : [[start + shift, Math.min(end, to) + shift]],
  );
  // One character for one, so that the ranges stay where they are.
  const line = text.slice(from, to).replace(/\s/gu, " ");
  return { snippet: `${before}${line}${to < text.length ? "…" : ""}`, ranges: merged(shown) };
}

/** Not in the middle of a character. */
function atLetter(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
