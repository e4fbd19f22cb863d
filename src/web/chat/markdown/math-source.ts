import type { MarkedExtension, Tokens } from "marked";
import { escapeHtml } from "./escape.js";

/** Longer formulas are shown as they were written. */
const inDollars = /^\$(?![\s$])((?:[^$\\\n]|\\[^\n]){1,1000})\$(?!\d)/;
const inDoubleDollars = /^\$\$((?:[^$\\]|\\[\s\S]){1,5000})\$\$/;
const inParentheses = /^\\\(([\s\S]{1,2000}?)\\\)/;
const inBrackets = /^\\\[([\s\S]{1,5000}?)\\\]/;
const block = /^ {0,3}(?:\$\$(?:[^$\\]|\\[\s\S]){1,5000}\$\$|\\\[[\s\S]{1,5000}?\\\])[ \t]*(?:\n+|$)/;

/** Formulas, kept as they were written, in elements of the class `math` (and `display`). */
export const mathSource: MarkedExtension = {
  extensions: [
    {
      name: "mathBlock",
      level: "block",
      start: (text) => startOfLine(text, /\n {0,3}(?:\$\$|\\\[)/),
      tokenizer(text) {
        const [raw] = block.exec(text) ?? [];
        const isFormula = raw?.trimStart().startsWith("$") === true || isNotWords(texOf(raw?.trim() ?? ""));
        return raw === undefined || !isFormula ? undefined : { type: "mathBlock", raw };
      },
      renderer: ({ raw }) => `<p>${formula(raw.trim(), true)}</p>`,
    },
    {
      name: "math",
      level: "inline",
      start: startOfDollars,
      tokenizer: inlineMath,
      renderer: ({ raw, isDisplay }) => formula(raw, isDisplay === true),
    },
  ],
};

/** As it was written, which is what is shown until it is drawn. */
function formula(source: string, isDisplay: boolean): string {
  return `<span class="math${isDisplay ? " display" : ""}">${escapeHtml(source)}</span>`;
}

/** Within the paragraph: a text of many paragraphs must not be looked through for each of them. */
export function startOfLine(text: string, pattern: RegExp): number | undefined {
  const end = text.indexOf("\n\n");
  return pattern.exec(end < 0 ? text : text.slice(0, end))?.index;
}

/** The `$` of "US$5" opens nothing. */
function startOfDollars(text: string): number | undefined {
  let at = text.indexOf("$");
  while (at > 0 && /[\w\\]/.test(text.charAt(at - 1))) at = text.indexOf("$", at + 1);
  return at < 0 ? undefined : at;
}

function inlineMath(text: string): Tokens.Generic | undefined {
  const [first, second] = text;
  const found = (match: RegExpExecArray | null, isDisplay: boolean, holds: (tex: string) => boolean) => {
    const [raw, tex = ""] = match ?? [];
    return raw !== undefined && holds(tex) ? { type: "math", raw, isDisplay } : undefined;
  };
  if (first === "$" && second === "$") return found(inDoubleDollars.exec(text), true, () => true);
  if (first === "$") return found(inDollars.exec(text), false, isNotPrice);
  if (first === "\\" && second === "(") return found(inParentheses.exec(text), false, () => true);
  return first === "\\" && second === "[" ? found(inBrackets.exec(text), true, isNotWords) : undefined;
}

/** Of "$5 and 10$", "$5, $6" and the like. */
function isNotPrice(tex: string): boolean {
  return !/\s$/.test(tex) && !/^\d[\d.,]*\s*(?:[–-]\s*\d[\d.,]*\s*)?(?:[a-z]{2,}|per\b|a\b)/i.test(tex);
}

/** Of brackets that were only escaped: "\[citation needed\]". */
function isNotWords(tex: string): boolean {
  return /[\\^_=+\-*/<>{}|]/.test(tex) || /^\s*[a-z]\s*$/i.test(tex);
}

/** A formula without what marks it as one. */
export function texOf(source: string): string {
  return source.replace(/^(?:\$\$?|\\[([])|(?:\$\$?|\\[)\]])$/g, "");
}
