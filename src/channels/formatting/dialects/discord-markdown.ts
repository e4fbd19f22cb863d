import { commonMarks, isBetweenSpaces } from "../common-marks.js";
import { renderMarkdown } from "../markdown.js";

/** Markdown in Discord's dialect: tables as code, because it knows none; what is not a mark is escaped so that it stays as it is. */
export function toDiscordMarkdown(markdown: string): string {
  return renderMarkdown(markdown, discordMarks);
}

const discordMarks = commonMarks(escapePlain);

function escapePlain(text: string): string {
  return text
    .replace(/[\\*~`|]|(?<![^\W_])_|_(?![^\W_])/g, (mark, at: number) =>
      mark === "*" && isBetweenSpaces(text, at) ? mark : `\\${mark}`,
    )
    .replace(/^([ \t]*)(>|#{1,3}\s|-#\s)/gm, "$1\\$2");
}
