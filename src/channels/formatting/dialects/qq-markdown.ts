import { commonMarks, isBetweenSpaces } from "../common-marks.js";
import { renderMarkdown } from "../markdown.js";
import { toPlainText } from "../plain-text.js";

/**
 * Markdown in QQ's dialect: without pictures, which QQ would fetch, and tables as code. What is not a mark is escaped so
 * that it stays as it is. https://bot.q.qq.com/wiki/develop/api-v2/server-inter/message/type/markdown.html
 */
export function toQqMarkdown(markdown: string): string {
  return withoutCommands(renderMarkdown(markdown, qqMarks));
}

/** For bots and places that have no Markdown. */
export function toQqText(markdown: string): string {
  return withoutCommands(toPlainText(markdown));
}

/**
 * QQ refuses texts with addresses that are not registered for the bot, and takes file names for such. They stay readable:
 * `example[.]org/page`.
 */
export function withoutAddresses(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+]*:\/\//gi, "").replace(/(?<=[\p{L}\p{N}_-])\.(?=\p{L}{2})/gu, "[.]");
}

const qqMarks = commonMarks(escapePlain);

function escapePlain(text: string): string {
  return text
    .replace(/[\\*~`[\]|]|(?<![^\W_])_|_(?![^\W_])/g, (mark, at: number) =>
      mark === "*" && isBetweenSpaces(text, at) ? mark : `\\${mark}`,
    )
    .replace(/^([ \t]*)(>|#{1,6}\s|[-+]\s)/gm, "$1\\$2");
}

/** The model must not call everybody, or put something to press into a text: `<@id>`, `<qqbot-…>`, `<#channel>`, `<emoji:1>`. */
function withoutCommands(text: string): string {
  return text
    .replace(/<(?=[@#!]|qqbot-|emoji:|faceType)/gi, "<\u200b")
    .replace(/@(?=everyone|all\b|全体)/gi, "@\u200b");
}
