import { toDiscordMarkdown } from "../formatting/dialects/discord-markdown.js";
import { splitMarkdown } from "../formatting/split.js";

/** Discord's limit. */
export const longestMessage = 2000;

/** What one message of Discord can hold; also for a channel that is off. */
export const discordShape = {
  split: (content: string): readonly string[] =>
    splitMarkdown(content, longestMessage, (piece) => toDiscordMarkdown(piece).length),
  /** More than enough, and all in two rows on a screen. */
  maxButtons: 10,
  files: "apart",
  /** What a bot may upload to a server without boosts. */
  maxFileBytes: 10 * 1024 * 1024,
} as const;
