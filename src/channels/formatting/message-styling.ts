import { type Marks, renderMarkdown, withAddress } from "./markdown.js";

/**
 * Markdown as XMPP's Message Styling (XEP-0393): a mark touches its words and counts within its line. Nothing can be
 * escaped: what is not meant as a mark has a character of no width before it. It has no links with a name, no tables and no headings.
 */
export function toMessageStyling(markdown: string): string {
  return renderMarkdown(markdown, stylingMarks);
}

/** A character of no width: a mark behind it begins nothing. */
const joiner = "\u2060";
const openers = /(^|\s)(?=([*_~`])\S(?:[^\n]{0,400}?\S)?\2)/gm;

const stylingMarks: Marks = {
  // What Markdown has escaped comes by itself.
  text: (text) =>
    /^[*_~`]+$/.test(text) ? joiner + text : text.replace(openers, `$1${joiner}`).replace(/^(?=>|```)/gm, joiner),
  bold: (inner) => mark("*", inner),
  italic: (inner) => mark("_", inner),
  strike: (inner) => mark("~", inner),
  code: (text) => (text.includes("`") || text.includes("\n") || /^\s|\s$/.test(text) ? text : `\`${text}\``),
  pre: (text) => `\`\`\`\n${text.replace(/^```/gm, "\u200b```")}\n\`\`\``,
  link: withAddress,
  quote: (inner) => inner.replace(/^/gm, "> "),
};

/** Around the words of each line; words that hold the sign stay without it, since it would end there. */
function mark(sign: string, inner: string): string {
  return inner.replace(/^([ \t]*)(\S(?:.*\S)?)([ \t]*)$/gm, (whole, before: string, words: string, after: string) =>
    words.includes(sign) ? whole : `${before}${sign}${words}${sign}${after}`,
  );
}
