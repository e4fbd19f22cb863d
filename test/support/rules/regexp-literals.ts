/** A regular expression as it is written in a source file. */
export interface FoundRegExp {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** After one of these a slash begins an expression; after anything else it divides. */
const before = /(?:^|[([{,;:=!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of))$/;

/** A comment, or a string or a piece of a template, as it is written in a source file. */
export interface FoundText {
  readonly text: string;
  readonly line: number;
}

/** All regular expressions of a TypeScript text: strings, templates and comments are passed over. */
export const regExpsIn = (code: string): readonly FoundRegExp[] => piecesOf(code).regExps;

/** All comments, strings and pieces of templates of a TypeScript text, without the code around them. */
export const textsIn = (code: string): readonly FoundText[] => piecesOf(code).texts;

function piecesOf(code: string): { readonly regExps: readonly FoundRegExp[]; readonly texts: readonly FoundText[] } {
  const regExps: FoundRegExp[] = [];
  const texts: FoundText[] = [];
  const keep = (from: number, to: number): number => {
    texts.push({ text: code.slice(from, to), line: code.slice(0, from).split("\n").length });
    return to;
  };
  /** Open templates, each with the depth of braces in which its `${` is. */
  const templates: number[] = [];
  let depth = 0;
  let last = "";
  for (let at = 0; at < code.length; ) {
    const rest = code.slice(at, at + 2);
    const letter = code.charAt(at);
    if (/\s/.test(letter)) at += 1;
    else if (rest === "//") at = keep(at, endOf(code, at, "\n"));
    else if (rest === "/*") at = keep(at, endOf(code, at + 2, "*/"));
    else if (letter === '"' || letter === "'") {
      at = keep(at, endOfString(code, at, letter));
      last = '"';
    } else if (letter === "`" || (letter === "}" && templates.at(-1) === depth)) {
      if (letter === "}") templates.pop();
      const end = endOfTemplate(code, at + 1);
      if (end.isOpen) templates.push(depth);
      last = end.isOpen ? "{" : '"';
      at = keep(at, end.at);
    } else if (letter === "/" && before.test(last)) {
      const end = endOfRegExp(code, at + 1);
      const [flags = ""] = /^[a-z]*/.exec(code.slice(end + 1, end + 10)) ?? [];
      regExps.push({ source: code.slice(at + 1, end), flags, line: code.slice(0, at).split("\n").length });
      at = end + 1 + flags.length;
      last = '"';
    } else {
      const [word = letter] = /^[\w$]+/.exec(code.slice(at, at + 60)) ?? [];
      if (letter === "{") depth += 1;
      if (letter === "}") depth -= 1;
      last = word;
      at += word.length;
    }
  }
  return { regExps, texts };
}

function endOf(code: string, from: number, mark: string): number {
  const at = code.indexOf(mark, from);
  return at === -1 ? code.length : at + mark.length;
}

function endOfString(code: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < code.length && code.charAt(at) !== quote) at += code.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}

function endOfTemplate(code: string, from: number): { readonly at: number; readonly isOpen: boolean } {
  let at = from;
  for (; at < code.length && code.charAt(at) !== "`"; at += code.charAt(at) === "\\" ? 2 : 1)
    if (code.startsWith("${", at)) return { at: at + 2, isOpen: true };
  return { at: at + 1, isOpen: false };
}

function endOfRegExp(code: string, from: number): number {
  let isInClass = false;
  for (let at = from; at < code.length; at++) {
    const letter = code.charAt(at);
    if (letter === "\\") at += 1;
    else if (letter === "[") isInClass = true;
    else if (letter === "]") isInClass = false;
    else if (letter === "/" && !isInClass) return at;
  }
  return code.length;
}
