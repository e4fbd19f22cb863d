import { type Marks, renderMarkdown } from "../markdown.js";

/**
 * Markdown in Slack's dialect, mrkdwn: no tables and no headings, one star for bold. `<`, `>` and `&` are escaped, so that
 * no word of ours calls a person or a channel. https://docs.slack.dev/messaging/formatting-message-text
 */
export function toSlackMrkdwn(markdown: string): string {
  return renderMarkdown(markdown, slackMarks)
    .split("\n")
    .map(withoutPairs)
    .join("\n")
    .replace(needlessBefore, "$1")
    .replace(needlessAfter, "")
    .replace(controls, edge);
}

/** What Slack needs around a mark in the middle of a word, as in Chinese, and nobody sees. */
const edge = "\u200b";
/** Where it would be: before a mark that opens, after one that closes. Controls are not in any text of ours. */
const before = "\u0001";
const after = "\u0002";
/** Behind a mark that stands for itself. */
const literal = "\u0003";
const needlessBefore = new RegExp(`(^|[\\s(\\["'*_~])${before}`, "gm");
const needlessAfter = new RegExp(`${after}(?=$|[\\s.,;:!?)\\]"'*_~])`, "gm");
const controls = new RegExp(`[${before}${after}${literal}]`, "g");

const slackMarks: Marks = {
  text: (text) => withLiterals(escapeControl(text)),
  bold: (inner) => wrap("*", inner),
  italic: (inner) => wrap("_", inner),
  strike: (inner) => wrap("~", inner),
  code: (text) => (text.trim() === "" ? text : `\`${escapeControl(text.replaceAll("`", "ˋ"))}\``),
  pre: (text) => `\`\`\`\n${escapeControl(text.replaceAll("```", `\`${edge}\`\``))}\n\`\`\``,
  link: (inner, href) => `<${escapeAddress(href)}${inner === "" ? "" : `|${inLink(inner)}`}>`,
  quote: (inner) => inner.replace(/^/gm, "> "),
};

/** A mark must touch what it marks, and be on one line. */
function wrap(mark: string, inner: string): string {
  return inner
    .split("\n")
    .map((line) => {
      const core = line.trim();
      return core === "" ? line : line.replace(core, () => `${before}${mark}${core}${mark}${after}`);
    })
    .join("\n");
}

/** What Slack takes as more than text. */
export function escapeControl(text: string): string {
  return text.replace(controls, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function escapeAddress(href: string): string {
  return escapeControl(href.replaceAll("|", "%7C").replace(/\s/g, encodeURIComponent));
}

function inLink(inner: string): string {
  // A link without any text would be refused.
  return (
    inner.includes("\n")
      ? inner
          .split("\n")
          .map((line) => line.trim())
          .join(" ")
      : inner
  ).replaceAll("|", "¦");
}

/** Those in an address stay bare, or it could not be clicked. */
function withLiterals(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>]+)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[*_~`]/g, `$&${literal}`)))
    .join("");
}

const opening = new RegExp(`(?<![\\p{L}\\p{N}])([*_~\`])${literal}(?=\\S)`, "gu");

/**
 * A mark that stands for itself cannot be escaped in mrkdwn: where it could begin a pair, a character that nobody sees keeps
 * it from that. Only a mark at the beginning of a word can, and only with another one in its line.
 */
function withoutPairs(line: string): string {
  if (!line.includes(literal)) return line;
  return line
    .replace(opening, (_whole, mark: string) => (line.indexOf(mark) < line.lastIndexOf(mark) ? mark + edge : mark))
    .replaceAll(literal, "");
}
