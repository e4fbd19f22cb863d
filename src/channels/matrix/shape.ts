import { toMatrixHtml } from "../formatting/matrix-html.js";
import { toPlainText } from "../formatting/plain-text.js";
import { splitMarkdown } from "../formatting/split.js";

/**
 * Bytes of a text in both of its forms. An event holds 65,536 with all that servers add, and an edit has the text twice:
 * for those who know edits, and for those who do not.
 */
export const longestMessage = 24_000;

/** As they are in the JSON of an event. */
export function bytesOf(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(JSON.stringify(text)), 0);
}

export function lengthOf(markdown: string): number {
  return bytesOf(toPlainText(markdown), toMatrixHtml(markdown));
}

/** What one message of Matrix can hold; also for a channel that is off. */
export const matrixShape = {
  split: (content: string): readonly string[] => splitMarkdown(content, longestMessage, lengthOf),
  /** As many as there are signs for numbers. */
  maxButtons: 10,
  files: "apart",
  /** Homeservers allow 50 or 100 MB by default, and say so. */
  maxFileBytes: 100 * 1024 * 1024,
} as const;
