import type { MarkedExtension } from "marked";
import { escapeHtml } from "./escape.js";
import { startOfLine } from "./math-source.js";

const definition = /^\[\^([\p{L}\p{N}_-]{1,40})\]:[ \t]*([^\n]*(?:\n(?![ \t]*\n|\[\^)[^\n]+)*)(?:\n+|$)/u;
/** A further paragraph of a footnote is indented. */
const further = /^(?: {2,}|\t)[^\n]*\S[^\n]*(?:\n(?![ \t]*\n|\[\^)[^\n]+)*(?:\n+|$)/;
const reference = /^\[\^([\p{L}\p{N}_-]{1,40})\](?!\()(:?)/u;

/** Footnotes, each where it was written: nothing above moves when one arrives. */
export const footnoteSource: MarkedExtension = {
  extensions: [
    {
      name: "footnote",
      level: "block",
      start: (text) => startOfLine(text, /\n\[\^[\p{L}\p{N}_-]{1,40}\]:/u),
      tokenizer(text) {
        const [first, label, content = ""] = definition.exec(text) ?? [];
        if (first === undefined || label === undefined) return undefined;
        let raw = first;
        const paragraphs = [content];
        while (raw.endsWith("\n\n")) {
          const [more] = further.exec(text.slice(raw.length)) ?? [];
          if (more === undefined) break;
          raw += more;
          paragraphs.push(more.replace(/^(?: {1,4}|\t)/gm, "").trimEnd());
        }
        return { type: "footnote", raw, label, tokens: this.lexer.blockTokens(paragraphs.join("\n\n")) };
      },
      renderer({ label, tokens = [] }) {
        const content = this.parser.parse(tokens);
        return `<div class="footnote"><span class="footnote-label">${escapeHtml(String(label))}</span><div class="footnote-text">${content}</div></div>`;
      },
    },
    {
      name: "footnoteReference",
      level: "inline",
      tokenizer(text, before) {
        const [found, label, colon = ""] = reference.exec(text) ?? [];
        if (found === undefined) return undefined;
        // What looks like a footnote at the start of a line, and is none, is text.
        if (colon !== "" && /(?:^|\n)$/.test(before.at(-1)?.raw ?? "")) return undefined;
        return { type: "footnoteReference", raw: found.slice(0, found.length - colon.length), label };
      },
      renderer: ({ label }) => `<sup class="footnote-ref">${escapeHtml(String(label))}</sup>`,
    },
  ],
};
