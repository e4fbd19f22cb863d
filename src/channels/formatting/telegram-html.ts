import { bare, type Marks, renderMarkdown } from "./markdown.js";

/** Markdown as the HTML that Telegram understands: only its own tags, always balanced, everything else escaped. */
export function toTelegramHtml(markdown: string): string {
  return renderMarkdown(markdown, htmlMarks);
}

/** How many characters Telegram counts in a Markdown text: those left after its entities are parsed. */
export function telegramLength(markdown: string): number {
  return renderMarkdown(markdown, bare).length;
}

/** The marks of HTML that is shown as it is, line ends included. */
export const htmlMarks: Marks = {
  hasTags: true,
  text: escapeHtml,
  bold: (inner) => wrap("b", inner),
  italic: (inner) => wrap("i", inner),
  strike: (inner) => wrap("s", inner),
  code: (text) => wrap("code", escapeHtml(text)),
  pre(text, language) {
    const name = language.replace(/[^\w+#.-]/g, "");
    const body = escapeHtml(text);
    return name === "" ? `<pre>${body}</pre>` : `<pre><code class="language-${name}">${body}</code></pre>`;
  },
  link: (inner, href) => (inner === "" ? escapeHtml(href) : `<a href="${escapeHtml(href)}">${inner}</a>`),
  quote: (inner) => wrap("blockquote", inner),
};

function wrap(tag: string, inner: string): string {
  return inner === "" ? "" : `<${tag}>${inner}</${tag}>`;
}

export function escapeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
