import { toSlackMrkdwn } from "../formatting/dialects/slack-mrkdwn.js";
import { splitMarkdown } from "../formatting/split.js";

/**
 * Slack takes 40,000 characters in a new message, but 4000 in an edit, and answers grow by edits.
 * https://docs.slack.dev/reference/methods/chat.update
 */
export const longestMessage = 4000;
/** Of the text of one block. */
export const longestBlock = 3000;

export function lengthOf(markdown: string): number {
  return toSlackMrkdwn(markdown).length;
}

/** What one message of Slack can hold; also for a channel that is off. */
export const slackShape = {
  split: (content: string): readonly string[] => splitMarkdown(content, longestMessage, lengthOf),
  /** Slack takes 25. */
  maxButtons: 10,
  files: "apart",
  /** Slack takes 1 GB; more than this is not read into memory. */
  maxFileBytes: 100 * 1024 * 1024,
} as const;
