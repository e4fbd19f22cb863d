import type { MarkedToken, Token, Tokens } from "marked";
import { hasVisible, visibleLines } from "../../util/text/visible.js";
import { lexBounded, TooManySteps } from "./bounded-lexer.js";
import { unescapeEntities } from "./entities.js";
import { alignedTable } from "./table.js";

/** How each piece of Markdown looks on one platform. Each function gets what is inside already rendered, `text` gets it bare. */
export interface Marks {
  text(text: string): string;
  bold(inner: string): string;
  italic(inner: string): string;
  strike(inner: string): string;
  code(text: string): string;
  pre(text: string, language: string): string;
  link(inner: string, href: string): string;
  quote(inner: string): string;
  /** What it makes holds tags, and every other `<` escaped. */
  readonly hasTags?: true;
}

/** Lists inside lists beyond this depth, and quotes inside quotes, are flattened. */
const deepest = 12;

/**
 * Renders Markdown with the given marks. Text that is not Markdown stays as it is; nothing of it is dropped. What is all
 * marks and shows nothing (`>`, `&nbsp;`) stays as it was written.
 */
export function renderMarkdown(markdown: string, marks: Marks): string {
  try {
    const { tokens } = lexBounded(markdown);
    const rendered = blocks(tokens, { marks, depth: 0, quoted: false, bold: false }).replace(/^\n+/, "").trimEnd();
    return showsSomething(rendered, marks) ? rendered : marks.text(asWritten(markdown));
  } catch (error) {
    // The lexer calls itself for each quote inside a quote: thousands of them overflow the stack. Whatever is built to
    // stop us is shown as it was written.
    if (error instanceof RangeError || error instanceof TooManySteps) return marks.text(markdown);
    throw error;
  }
}

const looked = 2000;

function showsSomething(rendered: string, { hasTags }: Marks): boolean {
  const begin = rendered.slice(0, looked);
  return hasVisible(hasTags === true ? begin.replace(/<[^<>]*>/g, "") : begin);
}

const longestEscaped = 100;

function asWritten(markdown: string): string {
  const text = markdown.trim();
  return text === "" || hasVisible(text) ? text : visibleLines(text.slice(0, longestEscaped));
}

interface Scope {
  readonly marks: Marks;
  readonly depth: number;
  /** Inside a quote: Telegram knows no quotes inside quotes. */
  readonly quoted: boolean;
  readonly bold: boolean;
}

// The lexer has no extensions here, so that every token is one of its own.
function known(tokens: readonly Token[] | undefined): readonly MarkedToken[] {
  return (tokens ?? []) as readonly MarkedToken[];
}

function blocks(tokens: readonly Token[], scope: Scope): string {
  let rendered = "";
  let gap = "";
  for (const token of known(tokens)) {
    if (token.type === "space") {
      gap = "\n\n";
      continue;
    }
    const block = renderBlock(token, scope);
    if (block === "") continue;
    rendered += rendered === "" ? block : `${gap === "" ? "\n" : gap}${block}`;
    gap = token.raw.endsWith("\n\n") ? "\n\n" : "";
  }
  return rendered;
}

function renderBlock(token: MarkedToken, scope: Scope): string {
  const { marks } = scope;
  switch (token.type) {
    case "heading":
      return scope.bold ? inline(token.tokens, scope) : marks.bold(inline(token.tokens, { ...scope, bold: true }));
    case "paragraph":
      return inline(token.tokens, scope);
    case "code": {
      const info = (token.lang ?? "").trim();
      return token.text === "" ? marks.text(token.raw.trim()) : marks.pre(token.text, info.split(/\s/, 1)[0] ?? "");
    }
    case "blockquote": {
      const inner = blocks(token.tokens, { ...scope, quoted: true });
      return scope.quoted ? inner : marks.quote(inner);
    }
    case "list":
      return list(token, scope);
    case "table":
      return marks.pre(
        alignedTable(token, (cell) => inline(cell, { ...scope, marks: cellMarks })),
        "",
      );
    case "hr":
      return marks.text("———");
    case "html":
      return marks.text(token.text.trimEnd());
    case "def":
      return marks.text(token.raw.trim());
    default:
      return inlineToken(token, scope);
  }
}

function list(token: Tokens.List, scope: Scope): string {
  const indent = "  ".repeat(Math.min(scope.depth, deepest));
  const first = typeof token.start === "number" ? token.start : 1;
  const lines = token.items.map((item, index) => {
    const bullet = token.ordered ? `${first + index}.` : item.task ? (item.checked ? "☑" : "☐") : "•";
    const content = known(item.tokens).filter((inner) => inner.type !== "checkbox");
    const lead = content.findIndex((inner) => !["text", "paragraph", "space"].includes(inner.type));
    const texts = lead === -1 ? content : content.slice(0, lead);
    const rest = lead === -1 ? [] : content.slice(lead);
    const inner = { ...scope, depth: scope.depth + 1 };
    const text = blocks(texts, inner).replace(/\n/g, `\n${indent}  `);
    const below = blocks(rest, inner);
    return `${scope.marks.text(`${indent}${bullet} `)}${text}${below === "" ? "" : `\n${below}`}`.trimEnd();
  });
  return lines.join(token.loose ? "\n\n" : "\n");
}

function inline(tokens: readonly Token[] | undefined, scope: Scope): string {
  let rendered = "";
  for (const token of known(tokens)) rendered += inlineToken(token, scope);
  return rendered;
}

function inlineToken(token: MarkedToken, scope: Scope): string {
  const { marks } = scope;
  switch (token.type) {
    case "strong":
      return scope.bold ? inline(token.tokens, scope) : marks.bold(inline(token.tokens, { ...scope, bold: true }));
    case "em":
      return marks.italic(inline(token.tokens, scope));
    case "del":
      return marks.strike(inline(token.tokens, scope));
    case "codespan":
      return marks.code(token.text);
    case "br":
      return "\n";
    case "link":
      return link(token, inline(token.tokens, scope), marks);
    case "image":
      return link(token, marks.text(token.text === "" ? token.href : unescapeEntities(token.text)), marks);
    case "html":
      return /^<br\s*\/?>$/i.test(token.text.trim()) ? "\n" : marks.text(token.text);
    case "escape":
      return marks.text(token.text);
    case "text":
      return token.tokens === undefined ? marks.text(unescapeEntities(token.text)) : inline(token.tokens, scope);
    default:
      return marks.text(token.raw);
  }
}

function link(token: Tokens.Link | Tokens.Image, inner: string, marks: Marks): string {
  const href = unescapeEntities(token.href);
  const text = unescapeEntities(token.text);
  // A bare address: the platform makes it clickable by itself.
  if (text === href || href === `mailto:${text}` || href === `http://${text}`) return inner;
  if (isLinkable(href)) return marks.link(inner, href);
  return href === "" ? inner : `${inner}${marks.text(` (${href})`)}`;
}

function isLinkable(href: string): boolean {
  try {
    return ["http:", "https:", "tg:", "mailto:"].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}

const same = (inner: string): string => inner;

/** Markdown without its marks: what is left to read. Its length is what platforms count. */
export const bare: Marks = {
  text: same,
  bold: same,
  italic: same,
  strike: same,
  code: same,
  pre: same,
  link: (inner, href) => (inner === "" ? href : inner),
  quote: same,
};

/** Inside a table nothing can be clicked, so that addresses are written out. */
const cellMarks: Marks = { ...bare, link: withAddress };

export function withAddress(inner: string, href: string): string {
  return inner === "" || inner === href ? href : `${inner} (${href})`;
}
