import { lettersOf } from "../../util/text/letters.js";
import type { DocumentMessage } from "../session.js";

/** Tools whose words reach the chat. */
const speaking: ReadonlySet<string> = new Set(["message", "send_file", "ask_human"]);

/**
 * Whether a text is in one of the messages, or in what one of them said by a tool. Letters and digits are compared
 * alone, and targets of links left out as well as not: platforms show a text without its formatting.
 */
export function holdsText(messages: readonly DocumentMessage[], text: string): boolean {
  const own = messages.flatMap(textsOf).flatMap((said) => [lettersOf(said), lettersOf(withoutFormatting(said))]);
  const holds = (piece: string): boolean => {
    const wanted = lettersOf(piece);
    // A smiley says nothing that anybody could follow.
    return wanted === "" || own.some((said) => said.includes(wanted));
  };
  // The names of files are on lines of their own.
  return holds(text) || text.split("\n").every(holds);
}

function textsOf({ content, parts = [] }: DocumentMessage): readonly string[] {
  const spoken = parts.flatMap((part) =>
    part.type === "tool_use" && speaking.has(part.name) ? Object.values(part.input).flatMap(stringsIn) : [],
  );
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [content, ...texts, ...spoken];
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** What is in the source of Markdown and is not shown: targets of links, names of languages. */
function withoutFormatting(markdown: string): string {
  return markdown.replace(/\]\([^()\s]{0,2000}\)/g, "]").replace(/^```.{0,40}$/gm, "");
}
