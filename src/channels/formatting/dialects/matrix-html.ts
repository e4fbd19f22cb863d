import { type Marks, renderMarkdown, withAddress } from "../markdown.js";
import { escapeHtml, htmlMarks } from "./telegram-html.js";

/**
 * Markdown as the HTML of `org.matrix.custom.html`: only tags that the specification names, always balanced, everything
 * else escaped. Addresses are in `code`: clients fetch nothing from those to show what is behind them, and they can be
 * clicked all the same. https://spec.matrix.org/latest/client-server-api/#mroommessage-msgtypes
 */
export function toMatrixHtml(markdown: string): string {
  return renderMarkdown(markdown, matrixMarks)
    .split(/(?=<pre>)|(?<=<\/pre>)/)
    .map((part) => (part.startsWith("<pre>") ? part : flowing(part)))
    .join("");
}

const matrixMarks: Marks = {
  ...htmlMarks,
  text: withLinks,
  link(inner, href) {
    if (!/^(?:https?|mailto):/i.test(href)) return withAddress(inner, escapeHtml(href));
    // What is in it may be an address that has become a link already.
    const label = inner === "" ? escapeHtml(href) : inner.replace(/<\/?(?:a|code)\b[^<>]*>/g, "");
    return linkTo(href, label);
  },
};

function linkTo(href: string, label: string): string {
  const address = href.replace(/\s/g, encodeURIComponent);
  return `<code><a href="${escapeHtml(address)}">${label}</a></code>`;
}

/** Bare addresses would be made into links by the clients themselves, with a preview. */
function withLinks(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>]+)/i)
    .map((part, index) => (index % 2 === 1 ? linkTo(part, escapeHtml(part)) : escapeHtml(part)))
    .join("");
}

/** Line ends and the indent of lists would be lost in HTML. */
function flowing(html: string): string {
  return html.replace(/^ +/gm, (spaces) => "&nbsp;".repeat(spaces.length)).replace(/\n/g, "<br>");
}
