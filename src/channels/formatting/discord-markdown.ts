import { type Marks, renderMarkdown } from "./markdown.js";

/** Markdown in Discord's dialect: tables as code, because it knows none; what is not a mark is escaped so that it stays as it is. */
export function toDiscordMarkdown(markdown: string): string {
  return renderMarkdown(markdown, discordMarks);
}

const discordMarks: Marks = {
  text: escapeMarks,
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

function wrap(mark: string, inner: string): string {
  return inner.trim() === "" ? inner : `${mark}${inner}${mark}`;
}

/** Addresses stay bare: Discord makes them clickable, and would count a backslash as a part of them. */
function escapeMarks(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 1 ? part : escapePlain(part)))
    .join("");
}

function escapePlain(text: string): string {
  return text
    .replace(/[\\*~`|]|(?<![^\W_])_|_(?![^\W_])/g, (mark, at: number) =>
      mark === "*" && isBetweenSpaces(text, at) ? mark : `\\${mark}`,
    )
    .replace(/^([ \t]*)(>|#{1,3}\s|-#\s)/gm, "$1\\$2");
}

function isBetweenSpaces(text: string, at: number): boolean {
  return /\s/.test(text[at - 1] ?? "") && /\s/.test(text[at + 1] ?? "");
}
