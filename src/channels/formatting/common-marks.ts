import type { Marks } from "./markdown.js";

/** The marks of platforms that read Markdown themselves. `escapeText` keeps what is not a mark as it is. */
export function commonMarks(escapeText: (text: string) => string): Marks {
  return {
    text: (text) => outsideAddresses(text, escapeText),
    bold: (inner) => wrap("**", inner),
    italic: (inner) => wrap("*", inner),
    strike: (inner) => wrap("~~", inner),
    code: (text) => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``),
    pre(text, language) {
      const name = language.replace(/[^\w+#.-]/g, "");
      return `\`\`\`${name}\n${text.replaceAll("```", "`\u200b``")}\n\`\`\``;
    },
    link: (inner, href) => (inner === "" ? href : `[${inner}](${href.replaceAll(")", "%29")})`),
    quote: (inner) => inner.replace(/^/gm, "> "),
  };
}

/** A star between spaces is not a mark anywhere. */
export function isBetweenSpaces(text: string, at: number): boolean {
  return /\s/.test(text[at - 1] ?? "") && /\s/.test(text[at + 1] ?? "");
}

function wrap(mark: string, inner: string): string {
  return inner.trim() === "" ? inner : `${mark}${inner}${mark}`;
}

/** Addresses stay bare: platforms make them clickable, and a backslash would become a part of them. */
function outsideAddresses(text: string, escapeText: (text: string) => string): string {
  return text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 1 ? part : escapeText(part)))
    .join("");
}
