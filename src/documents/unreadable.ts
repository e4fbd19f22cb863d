import { trimEndWhere } from "../util/text/trim-where.js";
/** Why a document has no text to give. The message goes on from the file's name. */
export class UnreadableError extends Error {}

/** A document's text as it grows up to a limit. */
export class TextSink {
  readonly #limit: number;
  readonly #pieces: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#length > this.#limit;
  }

  add(piece: string): void {
    if (this.isFull || piece === "") return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** Tidied: at most one empty line in a row. */
  result(): { readonly text: string; readonly truncated: boolean } {
    const whole = this.#pieces.join("");
    const text = whole
      .slice(0, this.#limit)
      .split("\n")
      .map((line) => trimEndWhere(line, (unit) => unit !== "\t" && unit.trim() === ""))
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    return { text: text.toWellFormed(), truncated: this.isFull };
  }
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
