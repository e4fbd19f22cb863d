import { toQqMarkdown, toQqText } from "../formatting/dialects/qq-markdown.js";
import { splitMarkdown } from "../formatting/split.js";

/** QQ names no limit; other programs found that 5000 characters arrive. What is below them is room for a word of ours. */
export const longestMessage = 5000;
const longestPiece = 4700;

/** What one message of QQ can hold; also for a channel that is off. */
export const qqShape = {
  split: (content: string): readonly string[] =>
    splitMarkdown(content, longestPiece, (piece) => Math.max(toQqMarkdown(piece).length, toQqText(piece).length)),
  /** Five replies to a message are all that QQ takes: one is left for a question or a word of the gateway. */
  maxMessages: 4,
  maxButtons: 10,
  files: "apart",
  /** As other programs send them in one piece. */
  maxFileBytes: 10 * 1024 * 1024,
} as const;
