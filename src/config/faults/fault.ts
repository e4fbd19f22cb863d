/** Where a text stops being valid. Lines and columns count from 1; the message quotes nothing of the text. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Line and column of an offset. */
export function findLineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}
