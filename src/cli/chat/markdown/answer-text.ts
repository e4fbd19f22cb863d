import { stripVTControlCharacters } from "node:util";
import { harmless, isColored } from "../../text/output.js";
import { type MarkdownOutput, MarkdownStream, renderMarkdown } from "./markdown-stream.js";

/** Text of an answer on its way to the screen: as Markdown means it where there is colour, else as it is. */
export class AnswerText {
  readonly #output: Pick<NodeJS.WritableStream, "write">;
  readonly #markdown: MarkdownStream | undefined;
  #isOpen = false;

  constructor(output: Pick<NodeJS.WritableStream, "write"> & MarkdownOutput) {
    this.#output = output;
    this.#markdown = isColored(output) ? new MarkdownStream(output) : undefined;
  }

  /** Goes on with the text. */
  write(text: string): void {
    const plain = harmless(text);
    this.#put(this.#markdown?.add(plain) ?? plain);
  }

  /** Shows what was held back, and ends a line that is open. */
  endLine(): void {
    this.#put(this.#markdown?.end() ?? "");
    if (this.#isOpen) this.#put("\n");
  }

  #put(shown: string): void {
    if (shown === "") return;
    this.#output.write(shown);
    const text = stripVTControlCharacters(shown);
    if (text !== "") this.#isOpen = !text.endsWith("\n");
  }
}

/** A whole answer, in the same way. */
export function shownAnswer(text: string, output: MarkdownOutput): string {
  return isColored(output) ? renderMarkdown(harmless(text), output) : harmless(text);
}
