import type { OwnFile } from "./own-file.js";

/** Is given the paragraphs that others have a say in, and the file that they go into, before they are written. */
export type MarkForeign = (paragraphs: readonly string[], file: OwnFile) => Promise<void>;

/** The pieces of a file of the memory that are found one by one. */
export function paragraphsOf(text: string): readonly string[] {
  return text
    .split(/\n\s*\n|\n(?=#)/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");
}
