import { toFeishuMarkdown } from "../formatting/feishu-markdown.js";
import { splitMarkdown } from "../formatting/split.js";

/** Of a whole request with a card Feishu takes 30 kB; what is left is for the buttons and the rest of the card. */
export const longestText = 20_000;

/** As much of the request as a text takes: it is JSON within JSON there. */
export function bytesOf(markdown: string): number {
  return Buffer.byteLength(JSON.stringify(JSON.stringify(toFeishuMarkdown(markdown))));
}

/** What one message of Feishu can hold; also for a channel that is off. */
export const feishuShape = {
  split: (content: string): readonly string[] => splitMarkdown(content, longestText, bytesOf),
  maxButtons: 10,
  files: "apart",
  maxFileBytes: 30 * 1024 * 1024,
} as const;
