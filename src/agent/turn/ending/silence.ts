import type { InboundMessage } from "../../../bus/messages.js";

/** How a turn came to its end. */
type EndKind = "answered" | "notice" | "budget" | "interrupted" | "failed";

/** What of a turn's end is said in the chat; all of it is in the session's log. */
export function textForChat(
  { silence }: Pick<InboundMessage, "silence">,
  kind: EndKind,
  text: string | undefined,
): string | undefined {
  if (silence === undefined || text === undefined) return text;
  const hasFailed = kind === "failed" || kind === "budget";
  if (silence.failures === true && hasFailed) return undefined;
  if (silence.word === undefined) return text;
  return kind === "answered" ? withoutWord(text, silence.word) : undefined;
}

/** Models put a word that is to be alone into marks, and sometimes beside what they have to say. */
function withoutWord(text: string, word: string): string | undefined {
  const bare = text.replaceAll(/[\s*_`"'~.!。！]/g, "");
  if (bare === word.replaceAll("_", "")) return undefined;
  const trimmed = text.trim();
  const begin = trimmed.startsWith(word) ? trimmed.slice(word.length) : trimmed;
  return (begin.endsWith(word) ? begin.slice(0, -word.length) : begin).trim() || undefined;
}
