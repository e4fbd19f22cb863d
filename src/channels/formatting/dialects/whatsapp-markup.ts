import { type Marks, renderMarkdown, withAddress } from "../markdown.js";

/**
 * Markdown as WhatsApp shows it: it has no links with a name, no tables and no headings, and nothing can be escaped.
 * https://faq.whatsapp.com/539178204879377
 */
export function toWhatsAppMarkup(markdown: string): string {
  return renderMarkdown(markdown, whatsappMarks);
}

const whatsappMarks: Marks = {
  text: (text) => text,
  bold: (inner) => mark("*", inner),
  italic: (inner) => mark("_", inner),
  strike: (inner) => mark("~", inner),
  code: (text) => (text.includes("`") || text.includes("\n") ? text : `\`${text}\``),
  pre: (text) => `\`\`\`\n${text.replaceAll("```", "`\u200b``")}\n\`\`\``,
  link: withAddress,
  quote: (inner) => inner.replace(/^/gm, "> "),
};

/** A mark counts only where it touches a character, and only within its line. */
function mark(sign: string, inner: string): string {
  return inner.replace(/^([ \t]*)(\S(?:.*\S)?)([ \t]*)$/gm, (whole, before: string, words: string, after: string) =>
    words.includes(sign) ? whole : `${before}${sign}${words}${sign}${after}`,
  );
}
