import { Marked, type Token } from "marked";
import { lexBounded, TooManySteps } from "../../../channels/formatting/bounded-lexer.js";
import { detailsSource } from "./details-source.js";
import { escapeHtml } from "./escape.js";
import { footnoteSource } from "./footnote-source.js";
import { mathSource } from "./math-source.js";

/** HTML in an answer is shown as the text it is, except for these, which models use where Markdown has no word. */
const harmlessTag = /^<\/?(br|sub|sup|kbd|mark|u)\s*\/?>$/i;

const marked = new Marked(
  {
    gfm: true,
    breaks: true,
    renderer: {
      html: ({ text }) => (harmlessTag.test(text.trim()) ? text : escapeHtml(text)),
      // Nothing is fetched because an answer says so: an image is a link to it. The path of a file is its title.
      image: ({ href, text }) =>
        `<a class="picture" href="${escapeHtml(href)}" title="${escapeHtml(href)}">${escapeHtml(text)}</a>`,
      checkbox: ({ checked }) => `<span class="task${checked ? " done" : ""}">${checked ? "☑" : "☐"}</span> `,
    },
  },
  mathSource,
  footnoteSource,
  detailsSource(),
);

/** The blocks of a Markdown text. What is built to stop the page is shown as it was written. */
export function blocksOf(text: string): readonly Token[] {
  try {
    const { tokens } = lexBounded(text, marked.defaults);
    return tokens.filter(({ type }) => type !== "space" && type !== "def");
  } catch (error) {
    if (!(error instanceof TooManySteps) && !(error instanceof RangeError)) throw error;
    const inner: Token = { type: "text", raw: text, text };
    return [{ type: "paragraph", raw: text, text, tokens: [inner] }];
  }
}

/** Still to be cleaned. */
export function htmlOf(block: Token): string {
  return marked.parser([block]);
}
