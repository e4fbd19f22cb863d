/** Where a text stops being valid. Lines and columns count from 1; the message quotes nothing of the text. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Why a file of settings cannot be used: where its text is wrong, or what the system says, which is in no line. */
export interface Unusable extends Partial<Fault> {
  readonly message: string;
  /** What to do, as a sentence, where it is nothing in the file. */
  readonly advice?: string | undefined;
}

/** The sentence about such a file, without its end. */
export function faultSentence(path: string, fault: Unusable): string {
  const where = fault.line !== undefined ? `, line ${fault.line}, column ${fault.column}` : "";
  return `${path} cannot be read${where}: ${fault.message}`;
}

/** Line and column of an offset. */
export function findLineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}
