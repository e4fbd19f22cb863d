/** The pieces of a file of the memory that are found one by one. */
export function paragraphsOf(text: string): readonly string[] {
  return text
    .split(/\n\s*\n|\n(?=#)/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");
}
