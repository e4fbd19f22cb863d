import { telegramLength } from "../formatting/dialects/telegram-html.js";
import { splitMarkdown } from "../formatting/split.js";

/** Telegram's limit, in characters after entity parsing. */
const longestMessage = 4096;

/** What one message of Telegram can hold; also for a channel that is off. */
export const telegramShape = {
  split: (content: string): readonly string[] => splitMarkdown(content, longestMessage, telegramLength),
  /** Telegram allows a hundred; nobody reads as many. */
  maxButtons: 12,
  files: "apart",
  /** What the Bot API takes at most. */
  maxFileBytes: 50 * 1024 * 1024,
} as const;
