import { bare, type Marks, renderMarkdown, withAddress } from "./markdown.js";

/**
 * Markdown as plain text: marks are gone, links keep their address in brackets, quotes their `>`. Where that would be
 * longer than `longest`, these additions are left out, so that it is as long as the platform counts the Markdown.
 */
export function toPlainText(markdown: string, longest = Number.POSITIVE_INFINITY): string {
  const plain = renderMarkdown(markdown, plainMarks);
  return plain.length <= longest ? plain : renderMarkdown(markdown, bare);
}

const plainMarks: Marks = {
  ...bare,
  link: withAddress,
  quote: (inner) => inner.replace(/^/gm, "> "),
};
