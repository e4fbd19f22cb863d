/** What a terminal shows differently, with what ends it. */
const styles = {
  bold: ["\u001b[1m", "\u001b[22m"],
  italic: ["\u001b[3m", "\u001b[23m"],
  underline: ["\u001b[4m", "\u001b[24m"],
  strike: ["\u001b[9m", "\u001b[29m"],
  code: ["\u001b[36m", "\u001b[39m"],
  quiet: ["\u001b[2m", "\u001b[22m"],
} as const;

export function styled(style: keyof typeof styles, text: string): string {
  const [begin, end] = styles[style];
  // What ends within it would end it as well.
  return text === "" ? "" : begin + text.replaceAll(end, end + begin) + end;
}

/** A mark that has no end within this is a character as any other. */
const longestSpan = 400;
const mark = /[\\`*_~[!<]/;

interface Span {
  readonly pattern: RegExp;
  readonly show: (match: RegExpExecArray) => string;
}

const inner = (style: keyof typeof styles) => (match: RegExpExecArray) => styled(style, renderInline(match[1] ?? ""));

/** In their order: the first that fits counts. */
const spans: readonly Span[] = [
  { pattern: /\\([!-/:-@[-`{-~])/y, show: ([, character = ""]) => character },
  {
    pattern: /(`+)(?!`)([\s\S]*?[^`])\1(?!`)/y,
    show: ([, , code = ""]) => styled("code", code.replace(/^ (.*[^ ].*) $/s, "$1")),
  },
  {
    pattern: /\*\*\*(?=\S)([\s\S]*?\S)\*\*\*/y,
    show: ([, text = ""]) => styled("bold", styled("italic", renderInline(text))),
  },
  { pattern: /\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/y, show: inner("bold") },
  { pattern: /(?<![\p{L}\p{N}])__(?=\S)([\s\S]*?\S)__(?![\p{L}\p{N}])/uy, show: inner("bold") },
  { pattern: /\*(?=[^\s*])([\s\S]*?[^\s*])\*(?!\*)/y, show: inner("italic") },
  { pattern: /(?<![\p{L}\p{N}_])_(?=[^\s_])([\s\S]*?[^\s_])_(?![\p{L}\p{N}_])/uy, show: inner("italic") },
  { pattern: /~~(?=\S)([\s\S]*?\S)~~/y, show: inner("strike") },
  {
    pattern: /!?\[((?:[^[\]\\]|\\.)*)\]\(<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)/y,
    show: showLink,
  },
  { pattern: /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y, show: ([, address = ""]) => styled("underline", address) },
];

/** The address is shown beside its text: what is clicked on must be seen. */
function showLink([, text = "", address = ""]: RegExpExecArray): string {
  const label = renderInline(text);
  if (text === address || text === "") return styled("underline", address);
  return `${styled("underline", label)} ${styled("quiet", `(${address})`)}`;
}

/** A text within one block, with its marks as styles. `before`: the character in front of it, which may matter to a mark. */
export function renderInline(text: string, before = ""): string {
  return renderUpTo(text, true, before).shown;
}

/** As much of a text that still grows as nothing can change any more. `rest` is to be given again, with what follows. */
export function renderKnown(text: string, before: string): { readonly shown: string; readonly rest: string } {
  return renderUpTo(text, false, before);
}

function renderUpTo(text: string, isWhole: boolean, before = ""): { readonly shown: string; readonly rest: string } {
  const source = before + text;
  let shown = "";
  let at = before.length;
  while (at < source.length) {
    const character = source.charAt(at);
    if (!mark.test(character)) {
      shown += character;
      at++;
      continue;
    }
    const found = spanAt(source, at);
    const end = found === undefined ? at : at + found.match[0].length;
    // The next character may make it another mark.
    const isSettled = isWhole || source.length - at > longestSpan || (found !== undefined && end < source.length);
    if (!isSettled && (found !== undefined || mayBegin(source, at))) break;
    shown += found === undefined ? character : found.span.show(found.match);
    at = found === undefined ? at + 1 : end;
  }
  return { shown, rest: source.slice(at) };
}

function spanAt(source: string, at: number): { readonly span: Span; readonly match: RegExpExecArray } | undefined {
  for (const span of spans) {
    const pattern = new RegExp(span.pattern);
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null && match[0].length <= longestSpan) return { span, match };
  }
  return undefined;
}

/** Whether what is here can still become a mark, as more of the line comes. */
function mayBegin(source: string, at: number): boolean {
  const character = source.charAt(at);
  const next = source.charAt(at + 1);
  if (next === "") return true;
  if (character === "\\") return false;
  if (character === "!") return next === "[";
  if (character === "<")
    return "https://".startsWith(source.slice(at + 1, at + 9)) || /^<(https?:|mailto:)/.test(source.slice(at));
  if (character === "_") return !/[\p{L}\p{N}]/u.test(source.charAt(at - 1)) && !/\s/.test(next);
  if (character === "*" || character === "~") return !/\s/.test(next) && (character !== "~" || next === "~");
  // A link that goes on behind its text, or a text in brackets.
  if (character === "[") return !/^\[(?:[^[\]\\]|\\.)*\](?!\(|$)/.test(source.slice(at));
  return true;
}
