import type { MarkedExtension } from "marked";

const opening = /^ {0,3}<details( open)?>\s*(?:<summary>([^\n]{0,500}?)<\/summary>)?/i;
const deepest = 4;

/** `<details>` over more than one paragraph, with Markdown inside. Without its end it holds all that follows: it may still come. */
export function detailsSource(): MarkedExtension {
  let depth = 0;
  return {
    extensions: [
      {
        name: "details",
        level: "block",
        tokenizer(text) {
          const [head, isOpen, summary = ""] = depth < deepest ? (opening.exec(text) ?? []) : [];
          if (head === undefined) return undefined;
          const end = endOf(text, head.length);
          depth++;
          try {
            const tokens = this.lexer.blockTokens(text.slice(head.length, end.inner), []);
            const title = this.lexer.inlineTokens(summary);
            return { type: "details", raw: text.slice(0, end.outer), isOpen: isOpen !== undefined, title, tokens };
          } finally {
            depth--;
          }
        },
        renderer({ isOpen, title, tokens = [] }) {
          const words = this.parser.parseInline(title);
          // Without a summary the browser says "Details" in its own language.
          const summary = words === "" ? "" : `<summary>${words}</summary>`;
          const attribute = isOpen === true ? " open" : "";
          return `<details${attribute}>${summary}${this.parser.parse(tokens)}</details>`;
        },
      },
    ],
  };
}

function endOf(text: string, from: number): { readonly inner: number; readonly outer: number } {
  let open = 1;
  for (const match of text.slice(from).matchAll(/<(\/?)details(?: open)?>[ \t]*\n*/gi)) {
    open += match[1] === "" ? 1 : -1;
    if (open === 0) return { inner: from + match.index, outer: from + match.index + match[0].length };
  }
  return { inner: text.length, outer: text.length };
}
