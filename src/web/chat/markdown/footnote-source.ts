import type { MarkedExtension } from "marked";
import { escapeHtml } from "./escape.js";
import { startOfLine } from "./math-source.js";

const definition = /^\[\^([\w-]{1,40})\]:[ \t]*([^\n]*(?:\n(?![ \t]*\n|\[\^)[^\n]+)*)(?:\n+|$)/;
const reference = /^\[\^([\w-]{1,40})\](?![(:])/;

/** Footnotes, each where it was written: nothing above moves when one arrives. */
export const footnoteSource: MarkedExtension = {
  extensions: [
    {
      name: "footnote",
      level: "block",
      start: (text) => startOfLine(text, /\n\[\^[\w-]{1,40}\]:/),
      tokenizer(text) {
        const [raw, label, content = ""] = definition.exec(text) ?? [];
        if (raw === undefined || label === undefined) return undefined;
        return { type: "footnote", raw, label, tokens: this.lexer.inlineTokens(content) };
      },
      renderer({ label, tokens = [] }) {
        const content = this.parser.parseInline(tokens);
        return `<div class="footnote"><span class="footnote-label">${escapeHtml(String(label))}</span><span>${content}</span></div>`;
      },
    },
    {
      name: "footnoteReference",
      level: "inline",
      tokenizer(text) {
        const [raw, label] = reference.exec(text) ?? [];
        return raw === undefined ? undefined : { type: "footnoteReference", raw, label };
      },
      renderer: ({ label }) => `<sup class="footnote-ref">${escapeHtml(String(label))}</sup>`,
    },
  ],
};
