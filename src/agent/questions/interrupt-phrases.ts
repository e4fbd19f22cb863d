import { parseCommand } from "../commands/chat-command.js";

/** The whole message that ends a running turn. Listed in docs/interrupts.md. */
export const stopPhrases: readonly string[] = [
  "stop",
  "stop it",
  "stop that",
  "stop now",
  "please stop",
  "stop please",
  "cancel",
  "cancel it",
  "cancel that",
  "abort",
  "halt",
  "never mind",
  "nevermind",
  "forget it",
  "停",
  "停下",
  "停下来",
  "停止",
  "停一下",
  "快停",
  "请停止",
  "打断",
  "中断",
  "中止",
  "终止",
  "取消",
  "算了",
  "别说了",
  "不用了",
];

const known: ReadonlySet<string> = new Set(stopPhrases);

/**
 * True for a message that is one of the phrases and nothing else, whatever its case, its width and the punctuation
 * around it. Never for a message that only contains one: "don't stop", "停车".
 */
export function isStopPhrase(text: string): boolean {
  // Longer texts cannot be one, and need not be looked at.
  return text.length <= 60 && known.has(bare(text));
}

/** `/stop`, or one of the phrases. */
export function asksToStop(text: string): boolean {
  return parseCommand(text)?.name === "stop" || isStopPhrase(text);
}

function bare(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/^[\s\p{P}\p{S}\p{Cf}]+|[\s\p{P}\p{S}\p{M}\p{Cf}]+$/gu, "")
    .replace(/\s+/g, " ");
}
