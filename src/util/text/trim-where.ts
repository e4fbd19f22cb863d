/**
 * Cuts off what is at the end of a text. `replace(/[…]+$/, "")` does the same, and looks at each run in the middle
 * from each of its characters: somebody who writes a very long one stops the process with it.
 */
export function trimEndWhere(text: string, isCut: (unit: string) => boolean): string {
  let end = text.length;
  while (end > 0 && isCut(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

export function trimWhere(text: string, isCut: (unit: string) => boolean): string {
  const kept = trimEndWhere(text, isCut);
  let start = 0;
  while (start < kept.length && isCut(kept.charAt(start))) start += 1;
  return kept.slice(start);
}

/** Without slashes at the end. */
export function withoutSlashes(text: string): string {
  return trimEndWhere(text, (unit) => unit === "/");
}
